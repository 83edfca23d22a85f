/**
 * Contents of YAML files that were parsed when the program was bundled: parsing a shipped profile takes longer than
 * checking it. They are stored next to the YAML file, together with its text, so that a file that was edited since then
 * is parsed again.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { readYamlFile, type YamlContents, type YamlReading } from './document.ts';

/** JSON form of prepared contents. */
interface Prepared {
  readonly text: string;
  readonly data: unknown;
  readonly lines: readonly (readonly [pointer: string, line: number])[];
}

/** Returns the path of the prepared contents of a file. */
export function preparedFile(file: string): string {
  return `${file}.json`;
}

/** Returns contents to store next to the file; undefined if it has findings or JSON cannot represent it. */
export function prepare(file: string): string | undefined {
  const { contents, diagnostics } = readYamlFile(file);
  if (contents === undefined || diagnostics.length > 0) return undefined;
  const text = readFileSync(file, 'utf8');
  const prepared: Prepared = { text, data: contents.data, lines: [...contents.lines] };
  const written = JSON.stringify(prepared);
  return isDeepStrictEqual(JSON.parse(written), prepared) ? written : undefined;
}

/** Like {@link readYamlFile}, but faster if the file has not changed since its contents were prepared. */
export function readPrepared(file: string): YamlReading {
  const contents = contentsOf(file);
  return contents === undefined ? readYamlFile(file) : { contents, diagnostics: [] };
}

function contentsOf(file: string): YamlContents | undefined {
  try {
    const { text, data, lines } = JSON.parse(readFileSync(preparedFile(file), 'utf8')) as Prepared;
    return readFileSync(file).equals(Buffer.from(text)) ? { data, lines: new Map(lines) } : undefined;
  } catch {
    // If the prepared contents are damaged, read the file itself, which reports its own faults.
    return undefined;
  }
}
