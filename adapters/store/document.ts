/** A document of the agent on disk: a durable file behind lowdb. */
import { Low } from 'lowdb';
import type { Document } from '../../agent/ports.ts';
import { DurableFile, type DurableOptions, type Generation, type WrappedDocument } from './durable.ts';

interface FileDocument<T> extends Document<T> {
  /** Number of files that were found corrupt and renamed when the document was opened. */
  readonly corrupt: number;
  /** Generation from which the document was read when it was opened. */
  readonly found: Generation;
}

/**
 * Reads the document at `path`, otherwise its previous generation, otherwise uses `fallback`. Corrupt files never cause
 * a rejection; rejects with `store.unreadable` if the disk fails to return a file.
 * `write` updates `data` immediately; writes requested while another runs are combined into one. It rejects with
 * `store.failed`, naming the file, if the disk fails to write; the next write tries again.
 */
export async function openDocument<T>(
  path: string,
  fallback: T,
  options: DurableOptions<T> = {},
): Promise<FileDocument<T>> {
  const file = new DurableFile<T>(path, options);
  const db = new Low<WrappedDocument<T>>(file, { value: fallback });
  await db.read();
  return {
    corrupt: file.corrupt,
    found: file.found,
    get data() {
      return db.data.value;
    },
    async write(data) {
      db.data = { value: data };
      await db.write();
    },
  };
}
