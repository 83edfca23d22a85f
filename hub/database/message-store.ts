/** Stores messages of all cars and, in the same commit, the numbers, records and Status that follow from them. */

import { VigieError } from '../../protocol/errors.ts';
import {
  changesOf,
  excessOf,
  numberChangesOf,
  type PlacedMessage,
  type PlacedOf,
  type PlacedRecord,
} from '../core/commit.ts';
import type { KeptDeliveries } from '../core/deliveries.ts';
import { isCounted, type Life, Lives, MAX_LIVES } from '../core/lives.ts';
import {
  type CarMessage,
  heardAt,
  heardBefore,
  isAfter,
  isSeries,
  type MessageOrder,
  type RefusedMessage,
  recordPlaceOf,
  vinIn,
} from '../core/message.ts';
import { ClassNumbers } from '../core/numbers.ts';
import type { BegunLife, IdOf, MessageStore, NewsListener, Saved, TakeInOptions } from '../core/ports.ts';
import { VehicleStatus } from '../core/vehicle-status.ts';
import { keepReports } from './command-store.ts';
import { asConflict } from './conflicts.ts';
import { keepCorrections } from './corrections.ts';
import { keepDeliveries, MOST_WAITING } from './event-deliveries.ts';
import { ANY_FORGOTTEN, forgottenDigest } from './forgotten.ts';
import { newsOf } from './news.ts';
import { numbersIn, REFUSED_KEPT, statusIn } from './queries.ts';
import { READING_COLUMNS, readingRows } from './readings.ts';
import { IN_USE } from './registry.ts';
import { keepMonitors, NEW_CAR, newLifeMonitors } from './reported-monitors.ts';
import { configurationStatements } from './rollouts.ts';
import { clockNumber, kindNumber } from './rows.ts';
import type { SqliteDatabase } from './sqlite.ts';
import {
  ANY_UNREGISTERED,
  type CarsOfCommit,
  deleteTaken,
  mayStore,
  oldestOf,
  takenMessages,
  vinsOf,
} from './unregistered.ts';

interface ChangedNumbers {
  readonly vehicle: number;
  readonly class: number;
  readonly value: ClassNumbers;
  /** Arrival of the message that changed the numbers in UTC ms of the hub. */
  readonly received: number;
}

/** Changes so far that the messages of one commit cause. */
interface WrittenMessages {
  readonly numbers: Map<string, ChangedNumbers>;
  /** New messages, in the order of {@link Saved.fresh}. */
  readonly placed: PlacedMessage[];
  /** Messages of {@link Saved.fresh} with the number of a different message. */
  readonly conflicts: CarMessage[];
  /** Lives by vehicle. */
  readonly lives: Map<number, Lives>;
  /** Lives that began after another life of the same car. */
  readonly begun: BegunLife[];
}

/** SQLITE_TOOBIG, SQLITE_CONSTRAINT and SQLITE_MISMATCH (sqlite.org/rescode.html). */
const REFUSALS: ReadonlySet<number> = new Set([18, 19, 20]);

export class SqliteMessageStore implements MessageStore {
  readonly #database: SqliteDatabase;
  readonly #idOf: IdOf;
  readonly #news: Pick<NewsListener, 'arrived'> | undefined;
  readonly #limit: number;
  readonly #readings: boolean;
  /** Committed Status by the id of the vehicle. */
  readonly #statuses = new Map<number, VehicleStatus>();
  /** Id of the newest message. An id is never used again, also after its message was deleted: exits count on it. */
  #lastId: number | undefined;
  /** Differs after another process has written to the file, which may have erased a car. */
  #version: unknown;

  /**
   * `news` is notified of each commit. `limit`: largest number of events that wait for one receiver. `readings`: true to
   * also store each reading as a row.
   */
  constructor(
    database: SqliteDatabase,
    idOf: IdOf,
    news?: Pick<NewsListener, 'arrived'>,
    limit: number = MOST_WAITING,
    readings = false,
  ) {
    this.#database = database;
    this.#idOf = idOf;
    this.#news = news;
    this.#limit = limit;
    this.#readings = readings;
  }

  async save(messages: readonly CarMessage[], refused: readonly RefusedMessage[]): Promise<Saved> {
    return this.#report(
      this.#database.transaction(() => this.#write(messages, refused, this.#kindsOfCars(messages, refused))),
    );
  }

  async takeIn(vin: string, { limit, now, reason }: TakeInOptions) {
    const { taken, refused, ...written } = this.#database.transaction(() => {
      const rows = this.#database.perform(oldestOf(vin, limit, ''));
      const { messages, refused } = takenMessages(rows, now, reason);
      const cars = this.#kindsOfCars(messages, refused);
      const isAdmitted = rows.length > 0 && mayStore({ ...cars, held: new Set() })(vin);
      if (isAdmitted) this.#database.perform(deleteTaken(vin, rows));
      const written = this.#write(isAdmitted ? messages : [], isAdmitted ? refused : [], { ...cars, held: new Set() });
      return { ...written, taken: isAdmitted ? rows.length : 0, refused: isAdmitted ? refused.length : 0 };
    });
    return { ...this.#report(written), taken, refused };
  }

  /** Writes messages of cars that may send. Runs within a transaction. */
  #write(messages: readonly CarMessage[], refused: readonly RefusedMessage[], cars: CarsOfCommit) {
    const version = this.#database.one('PRAGMA data_version')?.['data_version'];
    if (version !== this.#version) this.#statuses.clear();
    this.#version = version;
    const isStored = mayStore(cars);
    const written: WrittenMessages = { numbers: new Map(), placed: [], conflicts: [], lives: new Map(), begun: [] };
    const fresh = messages.filter((one) => isStored(one.vin) && this.#keep(one, written));
    for (const numbers of written.numbers.values()) this.#writeNumbers(numbers);
    this.#refuse(refused.filter(({ topic }) => isStored(vinIn(topic))));
    const { placed, conflicts, begun: lives } = written;
    const excess = excessOf(written.numbers.values(), placed);
    return { placed, ...cars, fresh, conflicts, lives, excess, ...this.#writeChanges(placed) };
  }

  /** Updates the readers' data and notifies viewers. Call after the commit. */
  #report<T extends Saved>({
    statuses,
    placed,
    ...saved
  }: T & { readonly statuses: ReadonlyMap<number, VehicleStatus>; readonly placed: readonly PlacedMessage[] }) {
    for (const [vehicle, status] of statuses) this.#statuses.set(vehicle, status);
    this.#news?.arrived(
      newsOf(saved.fresh.map((one, index) => ({ ...one, row: (placed[index] as PlacedMessage).row }))),
    );
    return saved;
  }

  /** Writes the changes that follow from new messages. */
  #writeChanges(placed: readonly PlacedMessage[]): {
    readonly statuses: ReadonlyMap<number, VehicleStatus>;
    readonly deliveries: KeptDeliveries;
    readonly unreadable?: readonly CarMessage[];
  } {
    const changes = changesOf(placed);
    for (const [vehicle, at] of changes.heard) {
      this.#database.run('UPDATE vehicles SET last_seen = ? WHERE id = ?', at, vehicle);
    }
    const statuses = new Map([...changes.statuses].map(([vehicle, own]) => [vehicle, this.#keepStatus(vehicle, own)]));
    this.#database.perform(keepCorrections(changes.corrections, this.#lastUsedId()));
    const unreadable = this.#keepReadings(placed);
    for (const record of changes.records) this.#keepRecord(record);
    keepReports(this.#database, changes.reports);
    for (const one of placed) {
      for (const [sql, ...values] of configurationStatements(one.vehicle, one)) this.#database.run(sql, ...values);
    }
    this.#database.perform(keepMonitors(changes.monitors));
    return { statuses, ...unreadable, deliveries: this.#database.perform(keepDeliveries(changes.events, this.#limit)) };
  }

  /** Stores the readings of new telemetry as rows. Returns the messages that cannot be read. */
  #keepReadings(placed: readonly PlacedMessage[]): Pick<Saved, 'unreadable'> {
    if (!this.#readings) return {};
    const unreadable: CarMessage[] = [];
    const lateness = ({ vehicle, message }: PlacedMessage): number =>
      message.clock === 'none' ? this.#behind(vehicle, message.boot) : 0;
    for (const row of readingRows(placed, lateness, (one) => unreadable.push(one))) {
      this.#database.run(`INSERT INTO readings (${READING_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, ...row);
    }
    return unreadable.length === 0 ? {} : { unreadable };
  }

  #writeNumbers({ vehicle, class: priority, value, received }: ChangedNumbers): void {
    if (value.isEmpty) return;
    const { arrived, givenUp, starts, unsureBelow = 0 } = value.kept;
    this.#database.run(
      `INSERT INTO numbers (vehicle, class, arrived, given_up, starts, unsure_below, missing, due)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET arrived = excluded.arrived, given_up = excluded.given_up, starts = excluded.starts,
         unsure_below = excluded.unsure_below, missing = excluded.missing,
         due = CASE WHEN missing = 0 THEN excluded.due ELSE due END,
         attempts = CASE WHEN excluded.missing = 0 THEN 0 ELSE attempts END,
         requested = CASE WHEN excluded.missing = 0 THEN 0 ELSE requested END`,
      vehicle,
      priority,
      JSON.stringify(arrived),
      JSON.stringify(givenUp),
      JSON.stringify(starts),
      unsureBelow,
      value.missing,
      received,
    );
  }

  /** Returns the cars whose messages may not be stored now. */
  #kindsOfCars(messages: readonly CarMessage[], refused: readonly RefusedMessage[]): CarsOfCommit {
    const inUse = this.#database.one(IN_USE) !== undefined;
    const anyForgotten = this.#database.one(ANY_FORGOTTEN) !== undefined;
    const anyHeld = this.#database.one(ANY_UNREGISTERED) !== undefined;
    const cars = { strangers: new Set<string>(), removed: new Set<string>(), forgotten: new Set<string>() };
    const held = new Set<string>();
    if (!inUse && !anyForgotten && !anyHeld) return { ...cars, held };
    const isForgotten = (vin: string): boolean =>
      anyForgotten &&
      this.#database.one('SELECT 1 FROM forgotten_cars WHERE digest = ?', forgottenDigest(vin)) !== undefined;
    for (const vin of vinsOf(messages, refused)) {
      const car = inUse ? this.#database.one('SELECT removed FROM cars WHERE vin = ?', vin) : { removed: null };
      if (isForgotten(vin)) cars.forgotten.add(vin);
      else if (car === undefined) cars.strangers.add(vin);
      else if (car['removed'] !== null) cars.removed.add(vin);
      else if (anyHeld && this.#database.one('SELECT 1 FROM unregistered_cars WHERE vin = ?', vin)) held.add(vin);
    }
    return { ...cars, held };
  }

  refuses(error: unknown): boolean {
    const cause = error instanceof VigieError ? (error.cause as { readonly errcode?: number } | undefined) : undefined;
    return cause?.errcode !== undefined && REFUSALS.has(cause.errcode & 0xff);
  }

  /** Returns the id of the vehicle. Adds a new vehicle. */
  #vehicleOf(one: CarMessage): number {
    const { vin, received } = one;
    const known = this.#database.one('UPDATE vehicles SET changed = ? WHERE vin = ? RETURNING id', received, vin);
    if (known !== undefined) return known['id'] as number;
    const { id } = this.#database.one(
      `INSERT INTO vehicles (vin, public_id, first_seen, last_seen, changed) VALUES (?, ?, ?, ?, ?) RETURNING id`,
      vin,
      this.#idOf(vin),
      heardAt(one),
      heardBefore(one),
      received,
    ) as { id: number };
    this.#database.run(NEW_CAR, id, received);
    return id;
  }

  /** Stores a message. @returns false if it was already stored */
  #keep(received: CarMessage, written: WrittenMessages): boolean {
    const vehicle = this.#vehicleOf(received);
    return this.#keepOf(vehicle, this.#placed(vehicle, received, written), received, written);
  }

  /** Returns the message with the number that its start has at the hub. */
  #placed(vehicle: number, one: CarMessage, { lives, begun }: WrittenMessages): CarMessage {
    const known = lives.get(vehicle) ?? new Lives(this.#livesOf(vehicle));
    lives.set(vehicle, known);
    const boot = known.startOf(one.message.boot);
    for (const life of known.begun.splice(0)) {
      const { ordinal, first } = life;
      this.#database.run('INSERT INTO lives VALUES (?, ?, ?, ?)', vehicle, ordinal, first, one.received);
      if (ordinal === 0) continue;
      this.#database.run('DELETE FROM lives WHERE vehicle = ? AND ordinal <= ?', vehicle, ordinal - MAX_LIVES);
      begun.push({ vin: one.vin, first, ordinal });
      for (const [sql, ...values] of newLifeMonitors(vehicle, life, one.received)) this.#database.run(sql, ...values);
    }
    return { ...one, message: { ...one.message, boot } };
  }

  #livesOf(vehicle: number): readonly Life[] {
    const rows = this.#database.all('SELECT ordinal, first FROM lives WHERE vehicle = ? ORDER BY ordinal', vehicle);
    return rows as unknown as readonly Life[];
  }

  #keepOf(vehicle: number, one: CarMessage, original: CarMessage, written: WrittenMessages): boolean {
    const { class: priority, message, received } = one;
    // The hub may have assigned an uncounted start to the previous life, before the car's new life began here.
    const isKnown = !isCounted(message.boot) && this.#isRepetition(vehicle, one);
    const row = isKnown ? undefined : this.#insert(vehicle, one);
    if (row !== undefined) {
      if (this.#numbersIn(written, vehicle, priority, received).has(message) && this.#wasRemoved(vehicle, one, row)) {
        return false;
      }
      written.placed.push({ ...one, vehicle, row });
      for (const change of numberChangesOf(one)) {
        change.apply(this.#numbersIn(written, vehicle, change.class, received));
      }
      return true;
    }
    const conflict = asConflict(one);
    const conflictRow = isKnown || this.#isRepetition(vehicle, one) ? undefined : this.#insert(vehicle, conflict);
    if (conflictRow === undefined) {
      this.#numbersIn(written, vehicle, priority, received).arriveAgain(message);
      return false;
    }
    written.conflicts.push(original);
    written.placed.push({ ...conflict, vehicle, row: conflictRow });
    return true;
  }

  /** Inserts a message. @returns the id of the row, or undefined if the message's number exists */
  #insert(vehicle: number, { class: priority, message, payload, received }: CarMessage): number | undefined {
    const { seq, boot, kind, at, clock } = message;
    const place = isSeries(kind) ? recordPlaceOf(message) : undefined;
    const behind = clock === 'none' && place !== undefined ? this.#behind(vehicle, boot) : 0;
    const row = this.#database.one(
      `INSERT INTO messages (id, vehicle, class, seq, boot, kind, at, clock, received, payload)
       VALUES (max(?, (SELECT coalesce(max(id), 0) FROM messages)) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (vehicle, class, seq, boot) DO NOTHING RETURNING id`,
      this.#lastUsedId(),
      vehicle,
      priority,
      seq,
      boot,
      kindNumber(kind),
      place === undefined ? Math.round(at) : place.at + behind,
      clockNumber(clock),
      received,
      payload,
    );
    if (row === undefined) return undefined;
    this.#lastId = row['id'] as number;
    return this.#lastId;
  }

  #lastUsedId(): number {
    this.#lastId ??= this.#database.one('SELECT coalesce(max(next), 1) - 1 AS last FROM exits')?.['last'] as number;
    return this.#lastId;
  }

  /** Compares only bytes: they contain `boot`, and the start may be in another life. */
  #isRepetition(vehicle: number, { class: priority, message: { seq }, payload }: CarMessage): boolean {
    const sql = 'SELECT 1 FROM messages WHERE vehicle = ? AND class = ? AND seq = ? AND payload = ?';
    return this.#database.one(sql, vehicle, priority, seq, payload) !== undefined;
  }

  /** Deletes the row again if retention had removed this message: its number then stays without a message. */
  #wasRemoved(vehicle: number, { class: priority, message: { seq } }: CarMessage, row: number): boolean {
    const sql = 'SELECT 1 FROM messages WHERE vehicle = ? AND class = ? AND seq = ? AND id <> ?';
    if (this.#database.one(sql, vehicle, priority, seq, row) !== undefined) return false;
    this.#database.run('DELETE FROM messages WHERE id = ?', row);
    return true;
  }

  /** Stores the record. Its newest message contains its latest form. */
  #keepRecord({ one: { vehicle, row, message }, place }: PlacedRecord): void {
    const { boot, seq, clock } = message;
    const { began, trip = null, distance = null, duration = null, state = null } = place.facts ?? {};
    const known = this.#database.one(
      'SELECT boot, seq FROM records WHERE vehicle = ? AND collection = ? AND id = ?',
      vehicle,
      place.collection,
      place.id,
    ) as MessageOrder | undefined;
    if (known !== undefined && !isAfter(message, known)) return;
    const behind = clock === 'none' ? this.#behind(vehicle, boot) : 0;
    this.#database.run(
      `INSERT INTO records (vehicle, collection, id, at, boot, seq, message, began, trip, distance, duration, state)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       at = excluded.at, boot = excluded.boot, seq = excluded.seq, message = excluded.message, began = excluded.began,
       trip = excluded.trip, distance = excluded.distance, duration = excluded.duration, state = excluded.state`,
      vehicle,
      place.collection,
      place.id,
      place.at + behind,
      boot,
      seq,
      row,
      began === undefined ? null : Math.round(began) + behind,
      trip,
      distance,
      duration,
      state,
    );
  }

  #behind(vehicle: number, boot: number): number {
    const row = this.#database.one('SELECT behind FROM corrections WHERE vehicle = ? AND boot = ?', vehicle, boot);
    return (row?.['behind'] as number | undefined) ?? 0;
  }

  #numbersIn({ numbers }: WrittenMessages, vehicle: number, priority: number, received: number): ClassNumbers {
    const name = `${vehicle}/${priority}`;
    const known = numbers.get(name);
    if (known !== undefined) return known.value;
    const row = this.#database.one(
      'SELECT arrived, given_up, starts, unsure_below FROM numbers WHERE vehicle = ? AND class = ?',
      vehicle,
      priority,
    );
    const value = row === undefined ? new ClassNumbers() : numbersIn(row);
    numbers.set(name, { vehicle, class: priority, value, received });
    return value;
  }

  /** Writes a copy, so that a failed commit does not change what readers see. */
  #keepStatus(vehicle: number, messages: readonly PlacedOf<'status' | 'vehicle'>[]): VehicleStatus {
    const status = this.#statuses.get(vehicle)?.copy() ?? this.#readStatus(vehicle);
    for (const { message } of messages) status.accept(message);
    this.#database.run(
      'INSERT INTO status VALUES (?, ?) ON CONFLICT DO UPDATE SET document = excluded.document',
      vehicle,
      status.write(),
    );
    return status;
  }

  #readStatus(vehicle: number): VehicleStatus {
    const row = this.#database.one('SELECT document FROM status WHERE vehicle = ?', vehicle);
    return row === undefined ? new VehicleStatus() : statusIn(row);
  }

  #refuse(refused: readonly RefusedMessage[]): void {
    for (const { topic, reason, received, payload } of refused) {
      this.#database.run(
        'INSERT INTO refused (topic, reason, received, payload) VALUES (?, ?, ?, ?)',
        topic,
        reason,
        received,
        payload,
      );
    }
    if (refused.length > 0)
      this.#database.run('DELETE FROM refused WHERE id <= (SELECT max(id) FROM refused) - ?', REFUSED_KEPT);
  }
}
