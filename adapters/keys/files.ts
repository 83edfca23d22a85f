import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { VigieError } from '../../protocol/errors.ts';

/** Returns true for an error of the file system with this code, e.g. `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

/** Returns the error for a file that could not be read, with advice if it does not exist. */
export function unreadable(path: string, cause: unknown, missing: string): VigieError {
  const what = hasCode(cause, 'ENOENT') ? `does not exist; ${missing}` : `cannot be read: ${(cause as Error).message}`;
  return new VigieError('input.unreadable', what, { where: path, cause });
}

/** Returns the error for a file that could not be written. */
export function unwritten(path: string, cause: unknown): VigieError {
  return new VigieError('store.failed', `cannot be written: ${(cause as Error).message}`, { where: path, cause });
}

/** Returns the content of a text file; throws {@link unreadable}. */
export async function readText(path: string, missing: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error, missing);
  }
}

/**
 * Creates a file that must not exist yet; resolves when the file and its name are on disk. Rejects with the system's
 * error, e.g. `EEXIST` if the file exists: if several processes try, only one succeeds.
 */
export async function createFile(path: string, content: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    // Remove the file so that it can be created again.
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await syncDirectory(dirname(path));
}

/** Like {@link createFile}, but a power cut leaves either the complete file or none. */
export async function createWhole(path: string, content: string, mode: number): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await rm(temporary, { force: true });
    await createFile(temporary, content, mode);
    await link(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncDirectory(dirname(path));
}

/** Replaces a whole file: a power cut leaves either the old or the new one. Throws {@link unwritten}. */
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

/** Flushes the names in a directory to disk. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
