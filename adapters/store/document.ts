/** A document of the agent on disk: a durable file behind lowdb. */
import { Low } from 'lowdb';
import type { Document } from '../../agent/ports.ts';
import { DurableFile, type DurableOptions, type Generation, type WrappedDocument } from './durable.ts';

interface FileDocument<T> extends Document<T> {
  /** Number of files found corrupt when the document was opened, and put aside. */
  readonly corrupt: number;
  /** Source of the document when it was opened. */
  readonly found: Generation;
}

/**
 * Reads the document at `path`, else its previous generation, else uses `fallback`. Never rejects for bad data; rejects
 * with `store.unreadable` if the disk does not return a file.
 * `write` updates `data` at once; writes requested while one is running are combined into one. It rejects with
 * `store.failed`, naming the file, if the disk refuses the write; the next write tries again.
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
