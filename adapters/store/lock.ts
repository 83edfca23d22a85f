import { linkSync, mkdirSync, readFileSync, realpathSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VigieError } from '../../protocol/errors.ts';
import { isReadFailure } from '../../protocol/read-failure.ts';
import { unreadable } from './files.ts';

/** Locks of this thread by path: true while held, false if released but possibly still on the disk. */
const taken = new Map<string, boolean>();

/**
 * Locks a directory of records for one user: two agents that append to one journal would corrupt it, even within one
 * process. Replaces a lock whose owner no longer exists (killed, power cut, reboot).
 * @returns a function that releases the directory
 * @throws VigieError `usage.wrong` if it is locked; `store.failed` if the lock cannot be written; `store.unreadable` if
 * the disk fails to return the lock of another process
 */
export function lockDirectory(directory: string): () => void {
  const mine = identity(process.pid);
  let path = join(directory, 'lock');
  let draft = `${path}.${process.pid}`;
  try {
    mkdirSync(directory, { recursive: true });
    path = join(realpathSync(directory), 'lock');
    draft = `${path}.${process.pid}`;
    // Write the complete draft before it becomes the lock, so that no process reads an incomplete lock.
    writeFileSync(draft, mine);
    for (let attempt = 0; !become(draft, path); attempt++) {
      const owner = read(path);
      if (owner === mine ? usedHere(path, owner) : lives(owner)) {
        const user = owner === mine ? 'this program already' : `process ${owner.split(' ')[0]}`;
        throw new VigieError('usage.wrong', `${user} uses it; end that one or choose another directory`, {
          where: directory,
        });
      }
      if (attempt > 10) throw new VigieError('store.failed', 'the lock cannot be taken', { where: path });
      takeAway(path, owner);
    }
  } catch (error) {
    if (error instanceof VigieError) throw error;
    throw new VigieError('store.failed', (error as Error).message, { where: directory, cause: error });
  } finally {
    removeQuietly(draft);
  }
  taken.set(path, true);
  let held = true;
  return () => {
    if (!held) return;
    held = false;
    taken.set(path, false);
    // If the lock cannot be removed, it becomes stale when this process ends.
    if (read(path) === mine) removeQuietly(path);
  };
}

/** Returns true if this thread or another thread of this process holds a lock that has the identity of this process. */
function usedHere(path: string, owner: string): boolean {
  // Without a start time, the owner may be an earlier process that had the same process id.
  return taken.get(path) ?? owner.includes(' ');
}

/** Returns true if the process that wrote `owner` still runs. If its start time is unknown, its process id decides. */
function lives(owner: string): boolean {
  const [pid = ''] = owner.split(' ');
  const found = identity(Number(pid));
  return found !== '' && (found === owner || found === pid);
}

/** Makes `draft` the lock. Returns false if a lock exists already. */
function become(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a stale lock. If another process has replaced the lock meanwhile, restores that one. */
function takeAway(path: string, stale: string): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (read(aside) !== stale) become(aside, path);
  remove(aside);
}

/** States of a process that has ended but may not have been reaped by its parent (proc(5)). */
const ENDED_STATES = ['Z', 'X', 'x'];

/**
 * Returns the identity of a running process: process id, start time and boot id, since process ids and start times
 * occur again, for example after a reboot. Empty if the process has ended.
 */
function identity(pid: number): string {
  if (!Number.isInteger(pid) || pid <= 0) return '';
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Fields 3 and 22 (proc(5)). The name in field 2 may contain spaces, so count from its closing parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', started] = [fields[0], fields[19]];
    if (ENDED_STATES.includes(state)) return '';
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${pid} ${started} ${boot}`;
  } catch {
    // The process does not exist, or /proc does not: in the latter case only the process id identifies it.
    return alive(pid) ? `${pid}` : '';
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw isReadFailure(error) ? unreadable(path, error) : error;
  }
}

/** Removes a file and ignores errors: an error of writing the lock has been reported and must not be replaced. */
function removeQuietly(path: string): void {
  try {
    remove(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
