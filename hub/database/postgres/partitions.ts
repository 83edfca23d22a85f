/**
 * Makes and drops partitions of messages while hubs store messages. No statement waits long for a lock, because those
 * that store messages wait behind it.
 */
import { DAY } from '../../../protocol/calendar.ts';
import { Looks } from '../../core/looks.ts';
import type { HubLog, Timer, WallClock } from '../../core/ports.ts';
import type { KeptDays, KeptKind, RetentionPlace, RetentionStore } from '../../core/retention.ts';
import { SqlRetention } from '../retention.ts';
import type { PostgresDatabase } from './database.ts';
import type { Execute } from './execute.ts';
import {
  dropOldest,
  makePartitions,
  messagesTable,
  type PartitionedTable,
  partitionDays,
  partitionsOf,
  readingsTable,
  removeRows,
} from './partition-tables.ts';
import { isPartitioned, type PartitionedKind, partitionedKinds } from './schema.ts';

/** Time in ms for which partitions are made ahead. */
const AHEAD_MS = 3 * DAY;
/** Time in ms between two checks for missing partitions. */
const CHECK_MS = 600_000;
/** Longest wait in ms for a lock. */
const LOCK_WAIT_MS = 500;
/** Key of pg_try_advisory_xact_lock, "vigp": only one hub changes partitions. */
export const CHANGE = 0x76696770;
/** SQLSTATE lock_not_available. */
const NOT_AVAILABLE = '55P03';
const START: RetentionPlace = { second: Number.MIN_SAFE_INTEGER, id: 0 };

interface PartitionsParts {
  readonly database: PostgresDatabase;
  /** Days to keep messages, by kind, and readings. Without the latter, there are no partitions of readings. */
  readonly days: KeptDays;
  readonly clock: WallClock;
  readonly after: Timer;
  readonly log: HubLog;
}

/** Makes partitions ahead while a hub runs. */
export class Partitions {
  readonly #parts: PartitionsParts;
  readonly #looks: Looks;

  constructor(parts: PartitionsParts) {
    this.#parts = parts;
    this.#looks = new Looks({ after: parts.after, every: CHECK_MS, look: () => this.#look() });
  }

  /** Makes the first partitions, and starts the regular checks. */
  async begin(): Promise<void> {
    await this.#look();
    this.#looks.begin();
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Never rejects. Meanwhile messages are stored in the tables `…_other`. */
  async #look(): Promise<void> {
    const { database, days, clock, log } = this.#parts;
    const now = Math.round(clock.now());
    try {
      for (const kind of [...partitionedKinds, ...(days.reading ? (['reading'] as const) : [])]) {
        const asked = { from: now, to: now + AHEAD_MS, days: partitionDays(days[kind]) };
        await changing(database, (execute) => makePartitions(execute, tableOf(kind), asked));
      }
    } catch (error) {
      log.warn('hub.partitions.failed', { error: (error as Error).message });
    }
  }
}

function tableOf(kind: PartitionedKind | 'reading'): PartitionedTable {
  return kind === 'reading' ? readingsTable : messagesTable(kind);
}

/**
 * Runs changes of partitions in one commit. Resolves with undefined if another hub is changing some, or if a
 * transaction holds a lock for too long: the next check tries again.
 */
async function changing<T>(
  database: PostgresDatabase,
  change: (execute: Execute) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await database.transaction(async (execute) => {
      const [{ locked } = {}] = await execute('SELECT pg_try_advisory_xact_lock($1) AS locked', [CHANGE]);
      if (!(locked as unknown as boolean)) return undefined;
      await execute(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`);
      return change(execute);
    });
  } catch (error) {
    if (((error as Error).cause as { readonly code?: unknown } | undefined)?.code === NOT_AVAILABLE) return undefined;
    throw error;
  }
}

/** Removes old messages: partitions as a whole, and single rows outside partitions and in wide ones. */
export class PartitionedRetention implements RetentionStore {
  readonly #database: PostgresDatabase;
  readonly #days: KeptDays;
  readonly #rows: SqlRetention;

  constructor(database: PostgresDatabase, days: KeptDays = {}) {
    this.#database = database;
    this.#days = days;
    this.#rows = new SqlRetention(database, 'FOR UPDATE');
  }

  confirms(now: number, tolerance: number): Promise<boolean> {
    return this.#rows.confirms(now, tolerance);
  }

  async removeBefore(
    kind: KeptKind,
    before: number,
    place?: RetentionPlace,
  ): Promise<{ readonly removed: number; readonly next?: RetentionPlace }> {
    if (kind !== 'reading' && !isPartitioned(kind)) return this.#rows.removeBefore(kind, before, place);
    const whole = tableOf(kind);
    const partitions = await this.#database.transaction((execute) => partitionsOf(execute, whole));
    if (partitions.some(({ to }) => to <= before)) {
      const removed = await changing(this.#database, (execute) => dropOldest(execute, whole, before));
      return removed === undefined ? { removed: 0 } : { removed, next: START };
    }
    const width = partitionDays(this.#days[kind]) * DAY;
    const wide = partitions.filter(({ from, to }) => from < before && to - from > width);
    for (const table of [`${whole.name}_other`, ...wide.map((one) => one.table)]) {
      const removed = await this.#database.transaction((execute) => removeRows(execute, table, whole, before));
      if (removed > 0) return { removed, next: START };
    }
    return { removed: 0 };
  }
}
