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
  /** Size from which the next journal segment is created, bytes; default 1 MiB. */
  readonly segmentBytes?: number;
  readonly log?: Log;
  readonly files?: FileSystem;
  /** Maximum delay until acknowledgements and records are on disk without a commit by the caller, ms; default 1,000. */
  readonly settleWithin?: number;
  /** Retention of collections; retention.ts has the defaults. */
  readonly records?: RecordRules;
  /** Maximum size of all files, bytes; default 512 MiB. Series of records are thinned out to stay below it. */
  readonly diskBytes?: number;
  /** Bytes per day, in whole pages, after which no series of records are stored that day; default 4 GiB. */
  readonly bytesPerDay?: number;
  /** Bytes on disk of acknowledged messages and their segments, kept for receivers that lost some; default 0. */
  readonly keptBytes?: number;
  /** Returns the UTC time for the bytes per day, ms, or undefined while unknown; default: the system's clock. */
  readonly now?: () => number | undefined;
  /**
   * Returns the UTC time for the age of records, ms. It must be certain, because old records are deleted for good.
   * Undefined while there is no certain time: then no record is too old. Default: `now`, else always undefined.
   */
  readonly agreed?: () => number | undefined;
  /** Timer for flushes and waits; default: the system's clock, which keeps no process from ending. */
  readonly timer?: StoreTimer;
}

export interface Store {
  readonly outbox: OutboxStore;
  readonly memory: Memory;
  readonly records: RecordStore;
  readonly metrics: Readonly<JournalMetrics>;
  /** Puts everything on disk and closes the files; rejects with `store.failed` if the disk refuses. */
  close(): Promise<void>;
}

/** Reads the states of a journal. If the disk fails, closes the journal's files and throws `store.unreadable`. */
function openStates(journal: Journal, contents: Contents, log: Log | undefined): States {
  try {
    return statesIn(journalKeeper(contents), log);
  } catch (error) {
    journal.abandon();
    throw error;
  }
}

/** Delay after which the store retries a failed write that no caller waits for, ms. */
const retryAfter = 5000;

function systemTime(): number | undefined {
  const now = Date.now();
  return now < EARLIEST_TIME ? undefined : now;
}

/**
 * Opens the store in `directory`; creates the directory if there is none. Damaged data is skipped, counted and logged,
 * never an error. Only one store may use a directory.
 *
 * Every change applies in memory at once. `outbox.commit` writes all changes to messages, state and records as one
 * group: after a power cut the group is there as a whole or not at all. Publish only what is on disk: the number of
 * an uncommitted message is assigned again after a power cut. `commit` rejects with `store.failed`, naming the file,
 * if the disk refuses the write; the store continues in memory and the next commit tries everything again. A single
 * acknowledgement is in the page cache when the current turn of the event loop ends, and on disk with the next
 * flush.
 *
 * Rejects with `store.unreadable` if the disk does not return the directory, a segment or a state: then no file is
 * renamed or removed, and a later call may find everything.
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
    metrics: journal.metrics,
    close() {
      cancelSettle?.();
      clearImmediate(spilling);
      closing ??= journal.close();
      return closing;
    },
  };
}
