/** Writes files atomically, so that an interrupted program does not leave partial files. */
import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file: other programs, and the next run of this one, read either the old text or the new one. */
export function writeWholeFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
