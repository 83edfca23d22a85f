import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runFolder } from '../rig/run.ts';
import { generatedDrives } from './generated.ts';

/** Path of a directory with the generated drives as files. It is removed at the end of the run. */
export function folderOfDrives(): string {
  const folder = mkdtempSync(join(runFolder(), 'drives-'));
  for (const [name, text] of generatedDrives()) writeFileSync(join(folder, name), text);
  return folder;
}
