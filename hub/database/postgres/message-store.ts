/**
 * Stores messages of all cars and, in the same commit, the numbers, records and Status that follow from them. Each step
 * is one statement for all messages of the commit. The first step locks the rows of the vehicles in the order of their
 * VINs, so that hubs with messages of the same car wait for each other but cannot deadlock.
 */

import { VigieError } from '../../../protocol/errors.ts';
import { finalStatuses } from '../../../protocol/schema/remote.ts';
import { type CommitChanges, changesOf, type PlacedMessage } from '../../core/commit.ts';
import {
  type CarMessage,
  heardAt,
  heardBefore,
  isSeries,
  type RefusedMessage,
  recordPlaceOf,
  vinIn,
} from '../../core/message.ts';
import type { IdOf, MessageStore, Saved, TakeInOptions } from '../../core/ports.ts';
import { keepCorrections } from '../corrections.ts';
import { keepDeliveries, MOST_WAITING } from '../event-deliveries.ts';
import { ANY_FORGOTTEN, forgottenDigest } from '../forgotten.ts';
import { newsOf } from '../news.ts';
import { REFUSED_KEPT } from '../queries.ts';
import { IN_USE } from '../registry.ts';
import { keepMonitors } from '../reported-monitors.ts';
import { configurationStatements } from '../rollouts.ts';
import { clockNumber, kindNumber } from '../rows.ts';
import {
  ANY_UNREGISTERED,
  type CarsOfCommit,
  deleteTaken,
  mayStore,
  oldestOf,
  takenMessages,
  UNREGISTERED_LOCK,
  vinsOf,
} from '../unregistered.ts';
import { columns, numbered, type PostgresDatabase, perform } from './database.ts';
import type { Execute } from './execute.ts';
import { keepLives } from './lives.ts';
import { notify } from './news.ts';
import { CommitNumbers, type OwnMessage } from './numbers.ts';
import { keepReadings } from './readings.ts';
import { behindOf, keepRecords, lateness } from './records.ts';
import { sortMessages } from './repetitions.ts';
import { type KnownStatus, StatusKeeper } from './statuses.ts';

/** SQLSTATE classes 22 data exception, 23 constraint violation, 54 program limit exceeded (PostgreSQL, appendix A). */
const REFUSAL = /^(22|23|54)...$/;

export class PostgresMessageStore implements MessageStore {
  readonly #database: PostgresDatabase;
  readonly #idOf: IdOf;
  readonly #statuses = new StatusKeeper();
  readonly #limit: number;
  readonly #readings: boolean;

  /** `limit`: largest number of events that wait for one receiver. `readings`: true to also store each reading as a row. */
  constructor(database: PostgresDatabase, idOf: IdOf, limit: number = MOST_WAITING, readings = false) {
    this.#database = database;
    this.#idOf = idOf;
    this.#limit = limit;
    this.#readings = readings;
  }

  async save(messages: readonly CarMessage[], refused: readonly RefusedMessage[]): Promise<Saved> {
    const { statuses, ...saved } = await this.#database.transaction(async (execute) =>
      this.#write(execute, messages, refused, await carsIn(execute, messages, refused)),
    );
    this.#statuses.committed(statuses);
    return saved;
  }

  async takeIn(vin: string, { limit, now, reason }: TakeInOptions) {
    const { statuses, ...saved } = await this.#database.transaction(async (execute) => {
      const rows = await perform(execute, oldestOf(vin, limit, UNREGISTERED_LOCK));
      const { messages, refused } = takenMessages(rows, now, reason);
      const cars = { ...(await carsIn(execute, messages, refused)), held: new Set<string>() };
      if (rows.length === 0 || !mayStore(cars)(vin)) {
        return { ...cars, fresh: [], statuses: new Map(), taken: 0, refused: 0 };
      }
      await perform(execute, deleteTaken(vin, rows));
      const written = await this.#write(execute, messages, refused, cars);
      return { ...written, taken: rows.length, refused: refused.length };
    });
    this.#statuses.committed(statuses);
    return saved;
  }

  /** Writes messages of cars that may send. Runs within a transaction. */
  async #write(
    execute: Execute,
    messages: readonly CarMessage[],
    refused: readonly RefusedMessage[],
    cars: CarsOfCommit,
  ): Promise<Saved & { readonly statuses: ReadonlyMap<number, KnownStatus> }> {
    const isStored = mayStore(cars);
    const statuses: ReadonlyMap<number, KnownStatus> = new Map();
    const unreadable = refused.filter(({ topic }) => isStored(vinIn(textOf(topic))));
    if (unreadable.length > 0) await keepRefused(execute, unreadable);
    const own = messages.filter(({ vin }) => isStored(vin));
    if (own.length === 0) return { ...cars, fresh: [], statuses };
    const vehicles = await keepVehicles(execute, own, this.#idOf);
    const { placed, begun: lives } = await keepLives(execute, own, vehicles);
    const known = placed.map((one) => ({ ...one, vehicle: (vehicles.get(one.vin) as KnownRow).id }));
    const numbers = await CommitNumbers.read(execute, known);
    const { fresh, conflicts, repeated } = await sortMessages(execute, known, numbers);
    const kept = await keepMessages(execute, fresh);
    const changes = changesOf(kept);
    await keepHeard(execute, placed, changes.heard, vehicles);
    const excess = await numbers.add(
      execute,
      kept.filter((_, index) => !conflicts.has(fresh[index] as OwnMessage)),
      repeated.filter((one) => numbers.of(one).mayChange(one.message)),
    );
    if (kept.length === 0) return { ...cars, fresh: [], lives, excess, statuses };
    const changed = await this.#statuses.keep(execute, changes.statuses);
    await perform(execute, keepCorrections(changes.corrections));
    const skipped = this.#readings ? await keepReadings(execute, kept) : {};
    await keepRecords(execute, changes.records);
    await keepReports(execute, changes.reports);
    for (const one of kept) {
      for (const [sql, ...values] of configurationStatements(one.vehicle, one)) await execute(numbered(sql), values);
    }
    await perform(execute, keepMonitors(changes.monitors));
    const deliveries = await perform(execute, keepDeliveries(changes.events, this.#limit));
    await notify(execute, newsOf(kept));
    const twice = new Set([...conflicts.values()].map(({ payload }) => payload));
    return {
      ...cars,
      fresh: kept,
      conflicts: own.filter(({ payload }) => twice.has(payload)),
      lives,
      excess,
      ...skipped,
      deliveries,
      statuses: changed,
    };
  }

  refuses(error: unknown): boolean {
    const cause = error instanceof VigieError ? (error.cause as { readonly code?: unknown } | undefined) : undefined;
    return typeof cause?.code === 'string' && REFUSAL.test(cause.code);
  }
}

/**
 * Returns the cars whose messages may not be stored now. Locks the registered cars until the commit, so that no process
 * erases them.
 */
async function carsIn(
  execute: Execute,
  messages: readonly CarMessage[],
  refused: readonly RefusedMessage[],
): Promise<CarsOfCommit> {
  const [{ in_use: inUse, any_forgotten: anyForgotten, any_held: anyHeld } = {}] = await execute(
    `SELECT EXISTS (${IN_USE}) AS in_use, EXISTS (${ANY_FORGOTTEN}) AS any_forgotten,
     EXISTS (${ANY_UNREGISTERED}) AS any_held`,
  );
  const vins = vinsOf(messages, refused);
  const forgotten = new Set<string>();
  if (anyForgotten as unknown as boolean) {
    const digests = new Map([...vins].map((vin) => [forgottenDigest(vin), vin]));
    const sql = 'SELECT digest FROM forgotten_cars WHERE digest = ANY ($1::text[])';
    for (const { digest } of await execute(sql, [[...digests.keys()]])) {
      forgotten.add(digests.get(digest as string) as string);
    }
  }
  const strangers = new Set<string>();
  const removed = new Set<string>();
  if (inUse as unknown as boolean) {
    const known = await execute(
      'SELECT vin, removed FROM cars WHERE vin = ANY ($1::text[]) ORDER BY vin FOR KEY SHARE',
      [[...vins]],
    );
    const registered = new Map(known.map((row) => [row['vin'], row['removed']]));
    for (const vin of vins) {
      if (forgotten.has(vin)) continue;
      if (!registered.has(vin)) strangers.add(vin);
      else if (registered.get(vin) !== null) removed.add(vin);
    }
  }
  if (!(anyHeld as unknown as boolean)) return { strangers, removed, forgotten, held: new Set() };
  const sql = 'SELECT vin FROM unregistered_cars WHERE vin = ANY ($1::text[])';
  const waiting = (await execute(sql, [[...vins]])).map(({ vin }) => vin as string);
  const may = mayStore({ strangers, removed, forgotten, held: new Set() });
  return { strangers, removed, forgotten, held: new Set(waiting.filter(may)) };
}

interface KnownRow {
  readonly id: number;
  /** Arrival of the newest message of the car before this commit in UTC ms. */
  readonly heard: number;
}

/** Adds new vehicles and locks the rows of all given ones. @returns the rows by VIN */
async function keepVehicles(
  execute: Execute,
  messages: readonly CarMessage[],
  idOf: IdOf,
): Promise<ReadonlyMap<string, KnownRow>> {
  const seen = new Map<string, { readonly first: number; readonly last: number; readonly before: number }>();
  for (const one of messages) {
    const { first = heardAt(one), before = heardBefore(one) } = seen.get(one.vin) ?? {};
    seen.set(one.vin, { first, before, last: one.received });
  }
  const rows = await execute(
    // A known car gets no new id, since there are only 2^31 ids. `last_seen` becomes the time of the newest message
    // even if that is earlier, so that a time from a fast clock does not remain in the future.
    `WITH given AS (
       SELECT vins.*, known.id, known.last_seen FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
       AS vins (vin, public_id, first, last, before) LEFT JOIN vehicles AS known ON known.vin = vins.vin
     ), written AS (
       INSERT INTO vehicles (id, vin, public_id, first_seen, last_seen, changed)
       SELECT coalesce(id, nextval('vehicle_ids')), vin, public_id, first, last, last
       FROM given ORDER BY given.vin COLLATE "C"
       ON CONFLICT (vin) DO UPDATE SET last_seen = excluded.last_seen, changed = excluded.changed
       RETURNING id, vin, vehicles.xmax = 0 AS is_new
     )
     SELECT written.*, coalesce(given.last_seen, given.before) AS heard FROM written JOIN given ON given.vin = written.vin`,
    columns([...seen].map(([vin, { first, last, before }]) => [vin, idOf(vin), first, last, before])),
  );
  // Only updated rows have an `xmax`: rows without it are new.
  const added = rows.filter(({ is_new: isNew }) => (isNew as unknown) === true).map(({ id }) => [id, 0]);
  if (added.length > 0) {
    // Fleets may have monitors for the new cars.
    await execute(
      `INSERT INTO car_monitors (vehicle, due) SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING`,
      columns(added),
    );
  }
  return new Map(rows.map(({ id, vin, heard }) => [vin as string, { id: id as number, heard: heard as number }]));
}

/**
 * Corrects `last_seen`, which must be the arrival of a new message from the car itself. {@link keepVehicles} has stored
 * the arrival of the last message of each car, and in most commits this is such a message.
 */
async function keepHeard(
  execute: Execute,
  messages: readonly CarMessage[],
  heard: CommitChanges['heard'],
  vehicles: ReadonlyMap<string, KnownRow>,
): Promise<void> {
  const written = new Map(messages.map(({ vin, received }) => [vin, received]));
  const wrong = [...vehicles].flatMap(([vin, { id, heard: before }]) => {
    const at = heard.get(id) ?? before;
    return written.get(vin) === at ? [] : [[id, at]];
  });
  if (wrong.length === 0) return;
  await execute(
    `UPDATE vehicles SET last_seen = given.heard FROM unnest($1::bigint[], $2::bigint[]) AS given (id, heard)
     WHERE vehicles.id = given.id`,
    columns(wrong),
  );
}

/** Stores new messages. @returns them with their rows, in the same order */
async function keepMessages(execute: Execute, messages: readonly OwnMessage[]): Promise<PlacedMessage[]> {
  if (messages.length === 0) return [];
  const series = messages.flatMap((one) => {
    const place = isSeries(one.message.kind) ? recordPlaceOf(one.message) : undefined;
    return place === undefined ? [] : [{ one, place }];
  });
  const behind = await behindOf(execute, series);
  const begins = new Map(series.map(({ one, place: { at } }) => [one.message, at + lateness(one, behind)]));
  const rows = await execute(
    `INSERT INTO messages (vehicle, class, seq, boot, kind, at, clock, received, payload)
     SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[],
       $7::smallint[], $8::bigint[], $9::bytea[])
     RETURNING id, vehicle, class, seq, boot`,
    columns(
      messages.map(({ vehicle, class: priority, message, received, payload }) => {
        const { seq, boot, kind, at, clock } = message;
        const begin = begins.get(message) ?? Math.round(at);
        return [vehicle, priority, seq, boot, kindNumber(kind), begin, clockNumber(clock), received, payload];
      }),
    ),
  );
  const ids = new Map(rows.map((row) => [`${row['vehicle']}/${row['class']}/${row['seq']}/${row['boot']}`, row['id']]));
  return messages.map((one) => {
    const { vehicle, class: priority, message } = one;
    return { ...one, row: ids.get(`${vehicle}/${priority}/${message.seq}/${message.boot}`) as number };
  });
}

/** Stores the states of commands that cars reported. Ignores unknown commands. */
async function keepReports(execute: Execute, messages: CommitChanges['reports']): Promise<void> {
  const reports = messages.map(({ vehicle, message }) => {
    const { remoteActionId, status, failureCause = null, detail = null } = message.body;
    const { boot, seq, at } = message;
    return [textOf(remoteActionId), vehicle, boot, seq, status, failureCause, textOf(detail), Math.round(at)];
  });
  if (reports.length === 0) return;
  await execute(
    `INSERT INTO command_states SELECT command, boot, seq, given.status, cause, detail, at
     FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[])
       AS given (command, vehicle, boot, seq, status, cause, detail, at)
     JOIN commands ON commands.id = given.command AND commands.vehicle = given.vehicle ON CONFLICT DO NOTHING`,
    columns(reports),
  );
  const final = messages.flatMap(({ vehicle, message: { body } }) =>
    finalStatuses.has(body.status) ? [[textOf(body.remoteActionId), vehicle]] : [],
  );
  if (final.length === 0) return;
  await execute(
    `UPDATE commands SET final = true FROM unnest($1::text[], $2::bigint[]) AS given (id, vehicle)
     WHERE commands.id = given.id AND commands.vehicle = given.vehicle`,
    columns(final),
  );
}

async function keepRefused(execute: Execute, refused: readonly RefusedMessage[]): Promise<void> {
  await execute(
    `INSERT INTO refused (topic, reason, received, payload)
     SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[])`,
    columns(refused.map(({ topic, reason, received, payload }) => [textOf(topic), textOf(reason), received, payload])),
  );
  await execute('DELETE FROM refused WHERE id <= (SELECT max(id) FROM refused) - $1', [REFUSED_KEPT]);
}

/** Replaces U+0000, which a car may send and which PostgreSQL does not allow in strings. */
function textOf<T extends string | null>(text: T): T {
  return (text?.replaceAll('\0', '\u{fffd}') ?? null) as T;
}
