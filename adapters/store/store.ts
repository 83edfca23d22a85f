/** The store on disk: outbox, state and records in one journal behind lowdb. */

import { Low } from 'lowdb';
import type { Log, Memory, OutboxStore, RecordStore } from '../../agent/ports.ts';
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
  /** Bytes after which the next journal segment is begun; 1 MiB. */
  readonly segmentBytes?: number;
  readonly log?: Log;
  readonly files?: FileSystem;
  /** Milliseconds after which acknowledgements and records are on disk without a commit of the caller's; 1,000. */
  readonly settleWithin?: number;
  /** Retention of collections; see retention.ts for what is not said here. */
  readonly records?: RecordRules;
  /** Bytes that all files may take; 512 MiB. Series of records are thinned out before they take more. */
  readonly diskBytes?: number;
  /** Bytes a day, in whole pages, after which series of records are no longer kept that day; 4 GiB. */
  readonly bytesPerDay?: number;
  /** Bytes on disk of acknowledged messages and what was written with them, for receivers that lost some; 0. */
  readonly keptBytes?: number;
  /** UTC milliseconds for what is written in a day, undefined while the time is unknown; the system's clock. */
  readonly now?: () => number | undefined;
  /**
   * UTC milliseconds for the age of records: they go for good, so it must be a time that is sure. Undefined while there
   * is none: nothing is too old then. Default: `now` where that is given, else none.
   */
  readonly agreed?: () => number | undefined;
  /** Times flushes and waits; the system's clock, which keeps no process from ending. */
  readonly timer?: StoreTimer;
}

export interface Store {
  readonly outbox: OutboxStore;
  readonly memory: Memory;
  readonly records: RecordStore;
  readonly metrics: Readonly<JournalMetrics>;
  /** Puts everything on disk and lets go of the files; rejects with `store.failed` when it could not. */
  close(): Promise<void>;
}

/** The states of a journal that was read. Throws `store.unreadable`, and closes the journal's files, when the disk fails. */
function openStates(journal: Journal, contents: Contents, log: Log | undefined): States {
  try {
    return statesIn(journalKeeper(contents), log);
  } catch (error) {
    journal.abandon();
    throw error;
  }
}

/** After a write that no caller waits for has failed, the store tries again after this, ms. */
const retryAfter = 5000;

function systemTime(): number | undefined {
  const now = Date.now();
  return now < EARLIEST_TIME ? undefined : now;
}

/**
 * Opens the store in `directory`, making it when there is none. Damaged data is skipped, counted and logged, never
 * an error. The store is the only one on its directory.
 *
 * Everything takes effect in memory at once. `outbox.commit` writes all that has changed, of messages, state and
 * records, as one group: after a power cut the group is there whole or not at all. Only what is on disk may be
 * published: the number of a message that was not committed is given out again after a power cut. `commit` rejects
 * with `store.failed`, naming the file, when the disk does not take it; the store goes on in memory and the next
 * commit tries everything again. An acknowledgement by itself is in the page cache when the event loop turns, and on
 * disk with the next flush.
 *
 * Rejects with `store.unreadable` when the disk does not return the directory, a segment or a state: no file is renamed or
 * removed then, and a later call may find everything.
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
    await db.write();
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
    // Those of one turn of the event loop are written together.
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
    metrics: journal.metrics,
    close() {
      cancelSettle?.();
      clearImmediate(spilling);
      closing ??= journal.close();
      return closing;
    },
  };
}
