/** The store on disk: outbox, state and records in one journal behind lowdb. */

import { Low } from 'lowdb';
import type { Log, Memory, NumberedRecords, OutboxStore, RecordStore } from '../../agent/ports.ts';
import { EARLIEST_TIME } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Contents } from './contents.ts';
import { type FileSystem, nodeFileSystem } from './files.ts';
import { Journal } from './journal.ts';
import { type StoreTimer, systemTimer } from './journal-options.ts';
import { findMessages } from './message-search.ts';
import type { JournalMetrics } from './metrics.ts';
import { type OutboxDuties, outboxStore } from './outbox-store.ts';
import { journalRecords } from './records.ts';
import type { RecordRules } from './retention.ts';
import { journalKeeper, type States, statesIn } from './states.ts';

export interface StoreOptions {
  /** Size in bytes from which the next journal segment is created; default 1 MiB. */
  readonly segmentBytes?: number;
  readonly log?: Log;
  readonly files?: FileSystem;
  /** Maximum delay in ms until acknowledgements and records are on disk without a commit; default 1,000. */
  readonly settleWithin?: number;
  /** Retention of collections; retention.ts contains the defaults. */
  readonly records?: RecordRules;
  /** Maximum size of all files in bytes; default 512 MiB. Time series are thinned out to stay below it. */
  readonly diskBytes?: number;
  /** Bytes per day, in whole pages, beyond which no time series are stored on that day; default 4 GiB. */
  readonly bytesPerDay?: number;
  /** Maximum size in bytes of segments kept for acknowledged messages that receivers may have lost; default 0. */
  readonly keptBytes?: number;
  /** Returns the UTC ms by which bytes per day are counted, or undefined while unknown; default: the system's clock. */
  readonly now?: () => number | undefined;
  /**
   * Returns the UTC ms by which records age. It must be certain, because old records are deleted for good. Returns
   * undefined while the time is uncertain: then no record is too old. Default: `now` if defined, otherwise always
   * undefined.
   */
  readonly agreed?: () => number | undefined;
  /** Timer for flushes and waits; default: the system's clock, which does not keep the process alive. */
  readonly timer?: StoreTimer;
}

export interface Store {
  readonly outbox: OutboxStore;
  readonly memory: Memory;
  readonly records: RecordStore;
  readonly numbered: NumberedRecords;
  readonly metrics: Readonly<JournalMetrics>;
  /** Writes everything to disk and closes the files; rejects with `store.failed` if the disk fails. */
  close(): Promise<void>;
}

/** Reads the states in a journal. If the disk fails, closes the journal's files and throws `store.unreadable`. */
function openStates(journal: Journal, contents: Contents, log: Log | undefined): States {
  try {
    return statesIn(journalKeeper(contents), log);
  } catch (error) {
    journal.abandon();
    throw error;
  }
}

/** Delay in ms after which the store retries a failed write that no caller waits for. */
const retryAfter = 5000;

function systemTime(): number | undefined {
  const now = Date.now();
  return now < EARLIEST_TIME ? undefined : now;
}

/**
 * Opens the store in `directory`, which is created if it does not exist. Damaged data is skipped, counted and logged;
 * it never causes an error. Only one store may use a directory.
 *
 * Every change is applied in memory immediately. `outbox.commit` writes all changes to messages, state and records as
 * one group: a power cut leaves either the whole group or nothing of it. Publish only what is on disk, because the
 * number of an uncommitted message is assigned again after a power cut. `commit` rejects with `store.failed`, naming
 * the file, if the disk fails to write; the store continues in memory and the next commit tries everything again. A
 * single acknowledgement is in the page cache when the current turn of the event loop ends, and on disk after the next
 * flush.
 *
 * Rejects with `store.unreadable` if the disk fails to return the directory, a segment or a state: then no file has
 * been renamed or removed, and a later call may succeed.
 */
export async function openStore(directory: string, options: StoreOptions = {}): Promise<Store> {
  const now = options.now ?? systemTime;
  const agreed = options.agreed ?? options.now ?? (() => undefined);
  const { log, settleWithin = 1000, timer = systemTimer } = options;
  const journal = new Journal(directory, { ...options, now, agreed });
  const db = new Low<Contents>(journal, journal.contents);
  await db.read();
  const contents = db.data;
  const damaged = journal.doubtful;
  let cancelSettle: (() => void) | undefined;
  let spilling: ReturnType<typeof setImmediate> | undefined;
  let closing: Promise<void> | undefined;

  const commit = async (): Promise<void> => {
    if (closing !== undefined) throw new VigieError('store.failed', 'the store is closed', { where: directory });
    cancelSettle?.();
    cancelSettle = undefined;
    const committed = records.committing();
    await db.write();
    committed();
  };

  const settle = (): void => {
    cancelSettle = undefined;
    commit().catch((error: unknown) => {
      log?.warn('store.failed', { error: String(error) });
      settleIn(retryAfter);
    });
  };

  const settleIn = (delay: number): void => {
    if (closing === undefined) cancelSettle ??= timer.after(delay, settle);
  };
  const changed = (): void => settleIn(settleWithin);

  const acknowledged = (): void => {
    changed();
    // Write all acknowledgements of one turn of the event loop together.
    spilling ??= setImmediate(() => {
      spilling = undefined;
      if (closing === undefined) journal.spill();
    });
  };

  const find: OutboxDuties['find'] = (wants) =>
    findMessages(options.files ?? nodeFileSystem, () => journal.messageFiles(), wants);
  const outbox = outboxStore(contents, { commit, acknowledged, find }, journal.damagedFiles);
  const states = openStates(journal, contents, log);
  const records = journalRecords(contents, journal, { rules: options.records ?? {}, agreed, changed });
  contents.beforeGroup.push(
    () => records.retire(),
    () => states.look(),
  );

  return {
    outbox,
    memory: { damaged, recall: (key) => states.recall(key), keep: (source) => states.keep(source) },
    records: { put: records.put, get: records.get, list: records.list },
    numbered: records.numbered,
    metrics: journal.metrics,
    close() {
      cancelSettle?.();
      clearImmediate(spilling);
      closing ??= journal.close();
      return closing;
    },
  };
}
