/** Messages of cars that are not registered, in the SQL that SQLite and PostgreSQL share. */
import type { Kind } from '../../protocol/schema/kind.ts';
import { isVin } from '../../protocol/topics.ts';
import { type CarMessage, type RefusedMessage, vinIn } from '../core/message.ts';
import type { Saved } from '../core/ports.ts';
import {
  readUnregistered,
  UNREGISTERED_BOUNDS,
  type UnregisteredBounds,
  type UnregisteredCar,
  type UnregisteredMessage,
  type UnregisteredStore,
  type UnregisteredTotals,
} from '../core/unregistered.ts';
import { chunks, selectIn } from './event-deliveries.ts';
import { forgottenDigest } from './forgotten.ts';
import type { Select } from './queries.ts';
import { IN_USE } from './registry.ts';
import { kindNumber, type SqlRow } from './rows.ts';
import type { SqlSteps } from './steps.ts';

/** Largest number of messages that one statement drops. */
const BATCH = 500;
/** Column `kind` of messages that the hub cannot read. */
const UNREADABLE = -1;

/** Statement that makes other writers wait for the end of the transaction, for a database with several writers. */
export type UnregisteredLock = typeof UNREGISTERED_LOCK | '';
export const UNREGISTERED_LOCK = 'LOCK TABLE unregistered_cars IN SHARE ROW EXCLUSIVE MODE';

/** Returns a row if messages of unregistered cars are kept. */
export const ANY_UNREGISTERED = "SELECT 1 FROM unregistered_cars WHERE vin > '' LIMIT 1";

interface UnregisteredDatabase {
  readonly select: Select;
  /** Executes the steps in one commit. Rejects with `store.failed`. */
  steps<T>(steps: () => SqlSteps<T>): Promise<T>;
}

interface DroppedRow {
  readonly id: number;
  readonly vin: string;
  readonly size: number;
}

export class SqlUnregistered implements UnregisteredStore {
  readonly #database: UnregisteredDatabase;
  readonly #lock: UnregisteredLock;
  readonly #bounds: UnregisteredBounds;

  constructor(
    database: UnregisteredDatabase,
    lock: UnregisteredLock,
    bounds: UnregisteredBounds = UNREGISTERED_BOUNDS,
  ) {
    this.#database = database;
    this.#lock = lock;
    this.#bounds = bounds;
  }

  keep(
    messages: readonly UnregisteredMessage[],
  ): Promise<{ readonly changed: ReadonlySet<string>; readonly dropped: number }> {
    return this.#database.steps(() => this.#keep(messages));
  }

  async admitted(limit: number): Promise<readonly string[]> {
    const sql = `SELECT vin FROM unregistered_cars WHERE NOT EXISTS (${IN_USE})
      OR EXISTS (SELECT 1 FROM cars WHERE cars.vin = unregistered_cars.vin AND removed IS NULL) LIMIT ?`;
    return (await this.#database.select(sql, limit)).map(({ vin }) => vin as string);
  }

  async totals(): Promise<UnregisteredTotals> {
    const [row] = await this.#database.select(TOTALS);
    return totalsIn(row);
  }

  async newest(limit: number): Promise<readonly UnregisteredCar[]> {
    const rows = await this.#database.select(
      'SELECT * FROM unregistered_cars ORDER BY last_seen DESC, vin LIMIT ?',
      limit,
    );
    return rows.map(({ vin, first_seen: firstSeen, last_seen: lastSeen, messages, bytes, dropped }) => ({
      vin: vin as string,
      firstSeen: firstSeen as number,
      lastSeen: lastSeen as number,
      messages: messages as number,
      bytes: bytes as number,
      dropped: dropped as number,
    }));
  }

  removeBefore(kind: Kind | undefined, before: number): Promise<number> {
    return this.#database.steps(() => this.#removeBefore(kind === undefined ? UNREADABLE : kindNumber(kind), before));
  }

  *#removeBefore(kind: number, before: number): SqlSteps<number> {
    if (this.#lock !== '') yield [this.#lock];
    const old = yield [
      `SELECT id, vin, size FROM unregistered_messages WHERE kind = ? AND received < ? ORDER BY received LIMIT ${BATCH}`,
      kind,
      before,
    ];
    yield* selectIn(
      'DELETE FROM unregistered_messages WHERE id IN',
      old.map(({ id }) => id as number),
    );
    yield* countDropped(old);
    return old.length;
  }

  *#keep(
    messages: readonly UnregisteredMessage[],
  ): SqlSteps<{ readonly changed: ReadonlySet<string>; readonly dropped: number }> {
    if (this.#lock !== '') yield [this.#lock];
    const changed = yield* admittedIn(new Set(messages.map(({ vin }) => vin)));
    const own = messages.filter(({ vin }) => !changed.has(vin));
    if (own.length === 0) return { changed, dropped: 0 };
    for (const part of chunks(own)) {
      const marks = part.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ');
      const values = part.flatMap(({ vin, topic, kind, payload, retained, received }) => [
        vin,
        // PostgreSQL does not allow U+0000 in strings.
        topic.replaceAll('\0', '\u{fffd}'),
        kind === undefined ? UNREADABLE : kindNumber(kind),
        Number(retained),
        received,
        payload.byteLength,
        payload,
      ]);
      yield [
        `INSERT INTO unregistered_messages (vin, topic, kind, retained, received, size, payload) VALUES ${marks}`,
        ...values,
      ];
    }
    const crowded = yield* countKept(own, this.#bounds);
    let dropped = 0;
    for (const row of crowded) {
      dropped += yield* dropOldest(row, this.#bounds.carMessages, this.#bounds.carBytes, row['vin'] as string);
    }
    return { changed, dropped: dropped + (yield* this.#keepBounds()) };
  }

  /** Drops messages until all cars together are within the bounds. @returns the number of dropped messages */
  *#keepBounds(): SqlSteps<number> {
    const { cars, messages, bytes } = this.#bounds;
    const [before] = yield [TOTALS];
    const excess = totalsIn(before).cars - cars;
    let dropped = 0;
    if (excess > 0) {
      const quiet = yield ['SELECT vin, messages FROM unregistered_cars ORDER BY last_seen LIMIT ?', excess];
      const vins = quiet.map(({ vin }) => vin as string);
      yield* selectIn('DELETE FROM unregistered_messages WHERE vin IN', vins);
      yield* selectIn('DELETE FROM unregistered_cars WHERE vin IN', vins);
      dropped = quiet.reduce((sum, { messages: own }) => sum + (own as number), 0);
    }
    const [after = {}] = yield [TOTALS];
    return dropped + (yield* dropOldest(after, messages, bytes));
  }
}

const TOTALS = `SELECT count(*) AS cars, CAST(coalesce(sum(messages), 0) AS bigint) AS messages,
  CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM unregistered_cars`;

function totalsIn(row: SqlRow | undefined): UnregisteredTotals {
  const { cars = 0, messages = 0, bytes = 0 } = row ?? {};
  return { cars: cars as number, messages: messages as number, bytes: bytes as number };
}

/** Returns the cars that are not unregistered: registered, removed or forgotten ones, or all if every car may send. */
function* admittedIn(vins: ReadonlySet<string>): SqlSteps<ReadonlySet<string>> {
  if ((yield [IN_USE]).length === 0) return vins;
  const known = yield* selectIn('SELECT vin FROM cars WHERE vin IN', [...vins]);
  const digests = new Map([...vins].map((vin) => [forgottenDigest(vin), vin]));
  const forgotten = yield* selectIn('SELECT digest FROM forgotten_cars WHERE digest IN', [...digests.keys()]);
  return new Set([
    ...known.map(({ vin }) => vin as string),
    ...forgotten.map(({ digest }) => digests.get(digest as string) as string),
  ]);
}

/** Counts kept messages. @returns the rows of cars that have more than the bounds allow */
function* countKept(
  messages: readonly UnregisteredMessage[],
  { carMessages, carBytes }: UnregisteredBounds,
): SqlSteps<SqlRow[]> {
  const cars = new Map<string, [first: number, last: number, messages: number, bytes: number]>();
  for (const { vin, received, payload } of messages) {
    const [first, , count, bytes] = cars.get(vin) ?? [received, received, 0, 0];
    cars.set(vin, [first, received, count + 1, bytes + payload.byteLength]);
  }
  const crowded: SqlRow[] = [];
  for (const part of chunks([...cars])) {
    const marks = part.map(() => '(?, ?, ?, ?, ?)').join(', ');
    const rows = yield [
      `INSERT INTO unregistered_cars (vin, first_seen, last_seen, messages, bytes) VALUES ${marks}
       ON CONFLICT (vin) DO UPDATE SET last_seen = excluded.last_seen,
         messages = unregistered_cars.messages + excluded.messages, bytes = unregistered_cars.bytes + excluded.bytes
       RETURNING vin, messages, bytes`,
      ...part.flatMap(([vin, numbers]) => [vin, ...numbers]),
    ];
    crowded.push(
      ...rows.filter((row) => (row['messages'] as number) > carMessages || (row['bytes'] as number) > carBytes),
    );
  }
  return crowded;
}

/** Drops the oldest messages, of one car or of all, until they are within the bounds. @returns their number */
function* dropOldest(present: SqlRow, messages: number, bytes: number, vin?: string): SqlSteps<number> {
  let [count, size, dropped] = [present['messages'] as number, present['bytes'] as number, 0];
  while (count > messages || size > bytes) {
    const oldest = yield vin === undefined
      ? [`SELECT id, vin, size FROM unregistered_messages WHERE id > 0 ORDER BY id LIMIT ${BATCH}`]
      : [`SELECT id, vin, size FROM unregistered_messages WHERE vin = ? ORDER BY id LIMIT ${BATCH}`, vin];
    const going: SqlRow[] = [];
    for (const row of oldest) {
      if (count <= messages && size <= bytes) break;
      going.push(row);
      count--;
      size -= row['size'] as number;
    }
    const last = going.at(-1)?.['id'] as number | undefined;
    if (last === undefined) break;
    yield vin === undefined
      ? ['DELETE FROM unregistered_messages WHERE id <= ?', last]
      : ['DELETE FROM unregistered_messages WHERE vin = ? AND id <= ?', vin, last];
    yield* countDropped(going);
    dropped += going.length;
  }
  return dropped;
}

function* countDropped(rows: readonly SqlRow[]): SqlSteps<void> {
  yield* countGone(rows, true);
}

/** Subtracts messages that are no longer kept, and removes cars without messages. */
function* countGone(rows: readonly SqlRow[], isDropped: boolean): SqlSteps<void> {
  const cars = new Map<string, [messages: number, bytes: number]>();
  for (const { vin, size } of rows as unknown as readonly DroppedRow[]) {
    const [messages, bytes] = cars.get(vin) ?? [0, 0];
    cars.set(vin, [messages + 1, bytes + size]);
  }
  for (const part of chunks([...cars])) {
    const marks = part
      .map(() => '(CAST(? AS text), CAST(? AS bigint), CAST(? AS bigint), CAST(? AS bigint))')
      .join(', ');
    yield [
      `UPDATE unregistered_cars SET messages = messages - given.column2, bytes = bytes - given.column3,
         dropped = dropped + given.column4 FROM (VALUES ${marks}) AS given WHERE vin = given.column1`,
      ...part.flatMap(([vin, [messages, bytes]]) => [vin, messages, bytes, isDropped ? messages : 0]),
    ];
  }
  yield* selectIn('DELETE FROM unregistered_cars WHERE messages <= 0 AND vin IN', [...cars.keys()]);
}

/** Cars of a commit whose messages are not stored. */
export type CarsOfCommit = Required<Pick<Saved, 'strangers' | 'removed' | 'forgotten' | 'held'>>;

/** Returns a function that is true for cars whose messages are stored. */
export function mayStore({ strangers, removed, forgotten, held }: CarsOfCommit): (vin: string) => boolean {
  return (vin) => !strangers.has(vin) && !removed.has(vin) && !forgotten.has(vin) && !held.has(vin);
}

/** Returns the cars of messages. A refused message whose topic contains no VIN belongs to no car. */
export function vinsOf(messages: readonly CarMessage[], refused: readonly RefusedMessage[]): Set<string> {
  return new Set([...messages.map(({ vin }) => vin), ...refused.map(({ topic }) => vinIn(topic)).filter(isVin)]);
}

/** Reads rows of {@link oldestOf}. `reason`: set if the database refuses these messages. */
export function takenMessages(
  rows: readonly SqlRow[],
  now: number,
  reason?: string,
): { readonly messages: readonly CarMessage[]; readonly refused: readonly RefusedMessage[] } {
  const messages: CarMessage[] = [];
  const refused: RefusedMessage[] = [];
  for (const row of rows) {
    const [topic, payload, received] = [
      row['topic'] as string,
      row['payload'] as Uint8Array,
      row['received'] as number,
    ];
    const one = readUnregistered({ topic, payload, received, retained: row['retained'] === 1 }, now);
    if (reason !== undefined) refused.push({ topic, reason, payload, received: now });
    else if ('read' in one) messages.push(one.read);
    else refused.push(one.refused);
  }
  return { messages, refused };
}

/** Selects the oldest messages of a car, in the order of arrival. */
export function* oldestOf(vin: string, limit: number, lock: UnregisteredLock): SqlSteps<readonly SqlRow[]> {
  if (lock !== '') yield [lock];
  return yield [
    `SELECT id, vin, topic, retained, received, size, payload FROM unregistered_messages
     WHERE vin = ? ORDER BY id LIMIT ?`,
    vin,
    limit,
  ];
}

/** Deletes messages that {@link oldestOf} returned and that are now stored. */
export function* deleteTaken(vin: string, rows: readonly SqlRow[]): SqlSteps<void> {
  const last = rows.at(-1)?.['id'];
  if (last === undefined) return;
  yield ['DELETE FROM unregistered_messages WHERE vin = ? AND id <= ?', vin, last];
  yield* countGone(rows, false);
}
