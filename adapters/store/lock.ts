import { linkSync, mkdirSync, readFileSync, realpathSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VigieError } from '../../protocol/errors.ts';
import { isReadFailure } from '../../protocol/read-failure.ts';
import { unreadable } from './files.ts';

/** Locks of this thread, by path: true while held, false if released but perhaps still on the disk. */
const taken = new Map<string, boolean>();

/**
 * Locks a directory of records for one user: two agents that append to one journal would corrupt it, even within one
 * process. Replaces a lock whose owner is gone (killed, power cut, another boot).
 * @returns a function that releases the directory
 * @throws VigieError `usage.wrong` if it is locked; `store.failed` if it cannot be written; `store.unreadable` if
 * the disk does not return the lock of another process
 */
export function lockDirectory(directory: string): () => void {
  const mine = identity(process.pid);
  let path = join(directory, 'lock');
  let draft = `${path}.${process.pid}`;
  try {
    mkdirSync(directory, { recursive: true });
    path = join(realpathSync(directory), 'lock');
    draft = `${path}.${process.pid}`;
    // Write the whole draft before it becomes the lock: no process reads half a lock.
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
    // A lock that cannot be removed becomes stale when this process ends.
    if (read(path) === mine) removeQuietly(path);
  };
}

/** Returns true if a lock with the identity of this process is in use by this thread or another of its threads. */
function usedHere(path: string, owner: string): boolean {
  // If only the number of the process is known, the owner may be an earlier process with the same number.
  return taken.get(path) ?? owner.includes(' ');
}

/** Returns true if the process that wrote this still runs. If a process's start time is unknown, its number decides. */
function lives(owner: string): boolean {
  const [pid = ''] = owner.split(' ');
  const found = identity(Number(pid));
  return found !== '' && (found === owner || found === pid);
}

/** Makes `draft` the lock. Returns false if there is already a lock. */
function become(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a stale lock. If another process has replaced it in the meantime, restores that process's lock. */
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

/** States of a process that has ended but that its parent may not have collected yet (proc(5)). */
const ENDED_STATES = ['Z', 'X', 'x'];

/**
 * Returns the identity of a running process: its number and start time, since numbers are reused, also after a boot.
 * Empty for a process that has ended.
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
    // No such process, or no /proc: then only the number identifies it.
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

/** Removes a file and ignores errors: a disk error was reported when the lock was written and must not be replaced. */
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
