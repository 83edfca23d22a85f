/** Writes files atomically, so that an interrupted program does not leave partial files. */
import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file. Other programs, and the next run of this one, read either the old or the new contents. */
export function writeWholeFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
