/** The directory of a hub: its keys and, with SQLite, all data of cars. Only the user who runs the hub may read it. */
import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../assembly/directory.ts';
import type { HubLog } from '../core/ports.ts';

/** SQLite file of a hub, in its directory. */
const DATABASE_FILE = 'hub.sqlite';

/** Permissions of all users except the owner (inode(7)). */
const OTHERS = 0o077;
/** Sticky bit. Marks a directory for all users, such as /tmp. */
const STICKY = 0o1000;

/** Returns the path of the SQLite file in the directory of a hub. */
export const databaseFile = (data: string): string => join(data, DATABASE_FILE);

/** Creates the directory, or restricts one that others can read. @throws VigieError `usage.wrong` if that fails */
export function makeHubDirectory(data: string, log: HubLog): void {
  makeDirectory(data, { of: 'the hub', choose: '--data', mode: 0o700 });
  closeToOthers(data, log);
}

/** Creates the SQLite file, or restricts one that others can read. SQLite's other files get the same permissions. */
export function makeDatabaseFile(data: string, log: HubLog): string {
  const file = databaseFile(data);
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  for (const path of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(path)) closeToOthers(path, log);
  return file;
}

/** Removes access for other users. Only logs a warning if the file system has no permissions, as on many USB sticks. */
function closeToOthers(path: string, log: HubLog): void {
  const { mode } = statSync(path);
  if ((mode & OTHERS) === 0) return;
  try {
    if ((mode & STICKY) !== 0) throw new Error('it is a directory for all users of the machine');
    chmodSync(path, mode & ~OTHERS & 0o7777);
  } catch (error) {
    log.warn('hub.data.readable', { path, error: (error as Error).message });
  }
}
