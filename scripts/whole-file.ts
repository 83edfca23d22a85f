/** Writes files that a program stopped in the middle must not leave half written. */
import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file: other programs, and the next run of this one, find the old text or the new one. */
export function writeWholeFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
