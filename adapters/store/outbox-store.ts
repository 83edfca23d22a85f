/** The outbox store on disk: a journal behind lowdb. */
import { Low } from 'lowdb';
import type { Log, OutboxEntry, OutboxStore } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { FileSystem } from './files.ts';
import { Journal, type JournalMetrics } from './journal.ts';
import { outboxCodec } from './outbox-entry.ts';
import { maximumPayload } from './record.ts';
import { NumberedSeries } from './series.ts';

export interface OutboxStoreOptions {
  /** Bytes after which the next journal segment is begun; 1 MiB. */
  readonly segmentBytes?: number;
  readonly log?: Log;
  readonly files?: FileSystem;
  /** Milliseconds after which an acknowledgement is on disk without a commit of the caller's; 1,000. */
  readonly settleWithin?: number;
}

export interface FileOutboxStore extends OutboxStore {
  readonly metrics: Readonly<JournalMetrics>;
  /** Puts everything on disk and lets go of the files; rejects with `store.failed` when it could not. */
  close(): Promise<void>;
}

/** Room for the members of an entry beside payload and correlation data, kind included. */
const entryRoom = 1 << 16;

/**
 * Opens the store in `directory`, making it when there is none. Damaged data is skipped, counted and logged, never
 * an error. The store is the only one on its directory, and appended payloads must not be changed any more.
 *
 * `acknowledge` is in the page cache when it returns and on disk with the next flush; `append` is on disk when a
 * later `commit` resolves, and only then may the entry be published: after a power cut the number of an entry that
 * was not committed is given out again. `commit` rejects with `store.failed`, naming the file, when the disk does
 * not take it; the store goes on in memory and the next commit tries everything again.
 *
 * Rejects with `store.failed` when the directory cannot be listed.
 */
export async function openOutboxStore(directory: string, options: OutboxStoreOptions = {}): Promise<FileOutboxStore> {
  const journal = new Journal<OutboxEntry>(directory, outboxCodec, options);
  const db = new Low(journal, new NumberedSeries<OutboxEntry>(outboxCodec));
  await db.read();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closing: Promise<void> | undefined;

  const commit = async (): Promise<void> => {
    if (closing !== undefined) {
      throw new VigieError('store.failed', 'the outbox store is closed', { where: directory });
    }
    clearTimeout(timer);
    timer = undefined;
    await db.write();
  };

  const settle = (): void => {
    timer = undefined;
    commit().catch((error: unknown) => options.log?.warn('store.failed', { error: String(error) }));
  };

  return {
    metrics: journal.metrics,
    entries: () => db.data.values(),
    nextSeq: (priorityClass) => db.data.next(priorityClass),
    get bytes() {
      return db.data.bytes;
    },
    append(entry) {
      if (entry.payload.length + (entry.correlation?.length ?? 0) + entryRoom > maximumPayload) {
        throw new VigieError('message.unbounded', `an entry of ${entry.payload.length} bytes is too long to be kept`);
      }
      db.data.append(entry);
    },
    acknowledge(priorityClass, seq) {
      if (!db.data.remove(priorityClass, seq) || closing !== undefined) return;
      journal.spill(db.data);
      timer ??= setTimeout(settle, options.settleWithin ?? 1000).unref();
    },
    commit,
    close() {
      clearTimeout(timer);
      closing ??= journal.close(db.data);
      return closing;
    },
  };
}
