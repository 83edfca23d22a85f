/**
 * Contents of YAML files that were read when the program was bundled: to read a shipped profile takes longer than to
 * check it. They lie beside the file, with its text, so that a file that was edited since is read as any other.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { readYamlFile, type YamlContents, type YamlReading } from './document.ts';

/** As JSON has it. */
interface Prepared {
  readonly text: string;
  readonly data: unknown;
  readonly lines: readonly (readonly [pointer: string, line: number])[];
}

/** Where the contents of a file lie. */
export function preparedFile(file: string): string {
  return `${file}.json`;
}

/** Prepared content to store next to the file. Undefined if the file has findings, or JSON cannot represent it. */
export function prepare(file: string): string | undefined {
  const { contents, diagnostics } = readYamlFile(file);
  if (contents === undefined || diagnostics.length > 0) return undefined;
  const text = readFileSync(file, 'utf8');
  const prepared: Prepared = { text, data: contents.data, lines: [...contents.lines] };
  const written = JSON.stringify(prepared);
  return isDeepStrictEqual(JSON.parse(written), prepared) ? written : undefined;
}

/** Like {@link readYamlFile}, but faster if the file has not changed since it was prepared. */
export function readPrepared(file: string): YamlReading {
  const contents = contentsOf(file);
  return contents === undefined ? readYamlFile(file) : { contents, diagnostics: [] };
}

function contentsOf(file: string): YamlContents | undefined {
  try {
    const { text, data, lines } = JSON.parse(readFileSync(preparedFile(file), 'utf8')) as Prepared;
    return readFileSync(file).equals(Buffer.from(text)) ? { data, lines: new Map(lines) } : undefined;
  } catch {
    // If the prepared content is damaged, the file itself is read, and reports its own faults.
    return undefined;
  }
}
