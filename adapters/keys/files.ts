import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { VigieError } from '../../protocol/errors.ts';

/** True for an error of the file system with this code, e.g. `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

/** The error for a file that could not be read, with what to do when it is not there. */
export function unreadable(path: string, cause: unknown, missing: string): VigieError {
  const what = hasCode(cause, 'ENOENT') ? `does not exist; ${missing}` : `cannot be read: ${(cause as Error).message}`;
  return new VigieError('input.unreadable', what, { where: path, cause });
}

/** The error for a file that could not be written. */
export function unwritten(path: string, cause: unknown): VigieError {
  return new VigieError('store.failed', `cannot be written: ${(cause as Error).message}`, { where: path, cause });
}

/** The content of a text file; throws {@link unreadable}. */
export async function readText(path: string, missing: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error, missing);
  }
}

/**
 * Makes a file that must not exist yet; on the medium, name included, when it resolves. Rejects with the file
 * system's error, `EEXIST` when it is there: of several processes that try, one succeeds.
 */
export async function createFile(path: string, content: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    // The name is free for another try.
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await syncDirectory(dirname(path));
}

/** Replaces a file as a whole: after a power cut it is the old or the new one. Throws {@link unwritten}. */
export async function replaceFile(path: string, content: string, mode = 0o644): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await rm(temporary, { force: true });
    await createFile(temporary, content, mode);
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw unwritten(path, error);
  }
}

/** Puts the names in a directory on the medium. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
