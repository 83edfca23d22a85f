/** Temporary files for targets that read files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | undefined;

/** Writes an input to a file, and replaces the previous input. Returns the path. */
export function scratchFile(input: Uint8Array, name: string): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'vigie-fuzz-'));
    process.on('exit', () => rmSync(made, { recursive: true, force: true }));
    folder = made;
  }
  const file = join(folder, name);
  writeFileSync(file, input);
  return file;
}
