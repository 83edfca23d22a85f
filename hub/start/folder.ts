/** The directory of a hub: keys, and with SQLite everything that cars sent. Only the user of the hub may read it. */
import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../assembly/directory.ts';
import type { HubLog } from '../core/ports.ts';

/** SQLite file of a hub, in its directory. */
const DATABASE_FILE = 'hub.sqlite';

/** Permissions of everybody but the owner (inode(7)). */
const OTHERS = 0o077;
/** Sticky bit: a directory for all users, such as /tmp. */
const STICKY = 0o1000;

/** SQLite file of the hub in a directory. */
export const databaseFile = (data: string): string => join(data, DATABASE_FILE);

/** Makes the directory, or closes one that other users may read. @throws VigieError `usage.wrong` when it cannot be made */
export function makeHubDirectory(data: string, log: HubLog): void {
  makeDirectory(data, { of: 'the hub', choose: '--data', mode: 0o700 });
  closeToOthers(data, log);
}

/** Makes the SQLite file, or closes one that other users may read. SQLite copies its permissions to the files next to it. */
export function makeDatabaseFile(data: string, log: HubLog): string {
  const file = databaseFile(data);
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  for (const path of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(path)) closeToOthers(path, log);
  return file;
}

/** A file system without permissions, as on many USB sticks, does not prevent the start: the log reports it. */
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
