import { linkSync, mkdirSync, readFileSync, realpathSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VigieError } from '../../protocol/errors.ts';
import { isReadFailure } from '../../protocol/read-failure.ts';
import { unreadable } from './files.ts';

/** Locks that this thread has taken, by path: true while held, false if released but perhaps still on the disk. */
const taken = new Map<string, boolean>();

/**
 * Takes a directory of records for one user of it: two agents that append to one journal would ruin it, also two of one
 * process. A lock whose owner is gone (killed, power cut, another boot) is taken over.
 * @returns releases the directory
 * @throws VigieError `usage.wrong` when it is taken; `store.failed` when it cannot be written; `store.unreadable` when
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
    // Written whole before it becomes the lock: no process reads half of one.
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
    // A lock that cannot be removed is stale as soon as this process has ended.
    if (read(path) === mine) removeQuietly(path);
  };
}

/** Whether a lock with the identity of this process is in use: by this thread, or by another thread of the process. */
function usedHere(path: string, owner: string): boolean {
  // If only the number of the process is known, the owner may be an earlier process with the same number.
  return taken.get(path) ?? owner.includes(' ');
}

/** Whether the process that wrote this still runs. If the start of a running process is unknown, its number decides. */
function lives(owner: string): boolean {
  const [pid = ''] = owner.split(' ');
  const found = identity(Number(pid));
  return found !== '' && (found === owner || found === pid);
}

/** Makes `draft` the lock, unless there is one. */
function become(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a lock that was found stale. Another process may have taken it over meanwhile: its lock is put back. */
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

/** States of a process that has ended, which its parent may not have collected yet (proc(5)). */
const ENDED_STATES = ['Z', 'X', 'x'];

/**
 * A running process by its number and the time it was started: numbers are used again, also after a boot. Empty for a
 * process that has ended.
 */
function identity(pid: number): string {
  if (!Number.isInteger(pid) || pid <= 0) return '';
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Fields 3 and 22 (proc(5)); the name in field 2 may contain blanks, so count from its closing parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', started] = [fields[0], fields[19]];
    if (ENDED_STATES.includes(state)) return '';
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${pid} ${started} ${boot}`;
  } catch {
    // No such process, or no /proc to ask: then the number alone has to do.
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

/** A disk that refuses has said so when the lock was written: this must not stand in its place. */
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
