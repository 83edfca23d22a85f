/** Queries of a hub in the SQL that SQLite and PostgreSQL share. No query scans a whole table of messages. */

import { classOf } from '../../protocol/classes.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { RecordFilter } from '../../protocol/interface/record-filter.ts';
import type { Run } from '../../protocol/runs.ts';
import type { Capture } from '../../protocol/schema/capture.ts';
import type { HelloKey } from '../../protocol/schema/hello.ts';
import { isAfter, isSeries, type MessageOrder } from '../core/message.ts';
import { ClassNumbers, type KeptStart } from '../core/numbers.ts';
import type {
  CallbackCommand,
  CommandState,
  CommandStore,
  DueNumbers,
  FleetRecord,
  FleetRecordsAsked,
  HubKeyset,
  HubPosition,
  HubRecord,
  KeptCommand,
  KnownVehicle,
  MessagesAsked,
  MissingNumbers,
  NumbersStore,
  ResendStore,
  StoredMessage,
  VehicleLife,
  VehicleNumbers,
  VehicleReader,
  VehicleWithStatus,
} from '../core/ports.ts';
import type { Owner } from '../core/registry.ts';
import type { VehicleStatus } from '../core/vehicle-status.ts';
import {
  type RecordName,
  readNewest,
  readPieces,
  readRecords,
  readViews,
  recordNameText,
  VIEWS,
  viewIn,
} from './batched-reads.ts';
import { Batches } from './batches.ts';
import { fleetRecordKeys, recordKeys, vehicleKeys } from './keysets.ts';
import { messageRows } from './message-pages.ts';
import {
  ACROSS_CARS,
  CAR,
  carsOf,
  knownVehicle,
  recordIn,
  type Select,
  type SqlRow,
  tableOf,
  wholeNumber,
  withMessages,
} from './rows.ts';

export { type Select, type SqlRow, type SqlValue, statusIn } from './rows.ts';

/** Number of newest refused messages to keep, so that people can look for the cause. */
export const REFUSED_KEPT = 1_000;
/** Number of records in one read. Their messages are in memory together. */
const BATCH = 200;
/** Number of vehicles in one read. */
const VEHICLES = 1_000;
/** Number of commands in one page, newest first. */
const PAGE = 100;

const FLEETS = withMessages('records').replace(
  'SELECT',
  'SELECT (SELECT vin FROM vehicles WHERE id = records.vehicle) AS vin,',
);
const CAPTURES = `SELECT messages.seq, messages.boot, 0 AS at, '' AS id, payload, behind FROM messages
  LEFT JOIN corrections ON corrections.vehicle = messages.vehicle AND corrections.boot = messages.boot
  WHERE messages.vehicle = ${CAR} AND messages.class = ?`;
/** Number of parts in one read. Each has at most 64 kB. */
const PARTS = 20;
/** Number of commands in the list of a callback. */
const COMMANDS_OF_CALLBACK = 256;
const COMMANDS = `SELECT * FROM commands WHERE vehicle = ${CAR}`;

export class SqlReader implements VehicleReader, NumbersStore, ResendStore, Omit<CommandStore, 'add'> {
  readonly #select: Select;
  readonly #views: Batches<string, VehicleWithStatus>;
  readonly #records: Batches<RecordName, HubRecord>;
  readonly #pieces: Batches<RecordName, HubRecord>;
  readonly #newest: Batches<RecordName, HubRecord>;

  constructor(select: Select) {
    this.#select = select;
    this.#views = new Batches(
      (vin) => vin,
      (vins) => readViews(select, vins),
    );
    this.#records = new Batches(recordNameText, (names) => readRecords(select, names));
    this.#pieces = new Batches(recordNameText, (names) => readPieces(select, names));
    this.#newest = new Batches(recordNameText, (names) => readNewest(select, names));
  }

  async vehicles(): Promise<readonly KnownVehicle[]> {
    const vehicles: KnownVehicle[] = [];
    for (let after = ''; ; ) {
      const sql = `SELECT vin, first_seen, last_seen FROM vehicles WHERE vin > ? ORDER BY vin LIMIT ${VEHICLES}`;
      const rows = await this.#select(sql, after);
      vehicles.push(...rows.map(knownVehicle));
      if (rows.length < VEHICLES) return vehicles;
      after = rows.at(-1)?.['vin'] as string;
    }
  }

  async vehicle(vin: string): Promise<KnownVehicle | undefined> {
    const [row] = await this.#select('SELECT vin, first_seen, last_seen FROM vehicles WHERE vin = ?', vin);
    return row && knownVehicle(row);
  }

  async numbers(vin: string): Promise<readonly VehicleNumbers[] | undefined> {
    if ((await this.vehicle(vin)) === undefined) return undefined;
    const rows = await this.#select(
      `SELECT class, arrived, given_up, starts, unsure_below FROM numbers WHERE vehicle = ${CAR} ORDER BY class`,
      vin,
    );
    return rows.map((row) => ({ class: row['class'] as number, ...numbersIn(row).report }));
  }

  async lives(vin: string): Promise<readonly VehicleLife[]> {
    const rows = await this.#select(
      `SELECT ordinal, first, since FROM lives WHERE vehicle = ${CAR} ORDER BY ordinal`,
      vin,
    );
    return rows.map(({ ordinal, first, since }) => {
      return { ordinal: ordinal as number, first: first as number, since: since as number };
    });
  }

  async missingNumbers(): Promise<readonly MissingNumbers[]> {
    const rows = await this.#select(
      `SELECT class, CAST(sum(missing) AS bigint) AS numbers, count(*) AS cars FROM numbers
       WHERE missing > 0 GROUP BY class`,
    );
    return rows.map((row) => ({
      class: row['class'] as number,
      numbers: row['numbers'] as number,
      cars: row['cars'] as number,
    }));
  }

  async dueNumbers(now: number, limit: number): Promise<readonly DueNumbers[]> {
    // SQLite plans a statement again if a limit is bound to a parameter.
    const rows = await this.#select(
      `SELECT vin, last_seen, numbers.* FROM numbers JOIN vehicles ON vehicles.id = numbers.vehicle
       WHERE missing > 0 AND due <= ? ORDER BY due LIMIT ${limit}`,
      now,
    );
    return rows.map((row) => ({
      vin: row['vin'] as string,
      class: row['class'] as number,
      missing: numbersIn(row).report.missing,
      due: row['due'] as number,
      attempts: row['attempts'] as number,
      requested: row['requested'] as number,
      lastSeen: row['last_seen'] as number,
    }));
  }

  async putOff(one: DueNumbers, next: Pick<DueNumbers, 'due' | 'attempts' | 'requested'>): Promise<boolean> {
    const changed = await this.#select(
      `UPDATE numbers SET due = ?, attempts = ?, requested = ?
       WHERE vehicle = ${CAR} AND class = ? AND due = ? RETURNING class`,
      next.due,
      next.attempts,
      next.requested,
      one.vin,
      one.class,
      one.due,
    );
    return changed.length > 0;
  }

  view(vin: string): Promise<VehicleWithStatus | undefined> {
    return this.#views.load(vin);
  }

  async viewById(id: string): Promise<VehicleWithStatus | undefined> {
    const [row] = await this.#select(`${VIEWS} WHERE public_id = ?`, id);
    return row && viewIn(row);
  }

  async status(vin: string): Promise<VehicleStatus | undefined> {
    return (await this.view(vin))?.status;
  }

  async record(vin: string, collection: string, id: string): Promise<HubRecord | undefined> {
    return (isSeries(collection) ? this.#pieces : this.#records).load({ vin, collection, id });
  }

  lastRecord(vin: string, collection: string): Promise<HubRecord | undefined> {
    return this.#newest.load({ vin, collection, id: '' });
  }

  async *records(vin: string, collection: string, from?: number, to?: number): AsyncGenerator<HubRecord, void> {
    const end = wholeNumber(to, Number.MAX_SAFE_INTEGER);
    const { read, own, value } = tableOf(collection);
    let rows = await this.#select(
      `${read()} WHERE ${own} AND records.at >= ? AND records.at < ? ORDER BY records.at, records.id LIMIT ${BATCH}`,
      vin,
      value,
      wholeNumber(from, Number.MIN_SAFE_INTEGER),
      end,
    );
    for (;;) {
      for (const row of rows) yield recordIn(row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) return;
      rows = await this.#select(
        `${read()} WHERE ${own} AND (records.at, records.id) > (?, ?) AND records.at < ?
         ORDER BY records.at, records.id LIMIT ${BATCH}`,
        vin,
        value,
        last['at'] as number,
        last['id'] as string,
        end,
      );
    }
  }

  messages(vin: string, asked: MessagesAsked): Promise<readonly StoredMessage[]> {
    return messageRows(this.#select, vin, asked);
  }

  async *captureParts(vin: string): AsyncGenerator<Capture, void> {
    let after = { seq: -1, boot: -1 };
    for (;;) {
      const rows = await this.#select(
        `${CAPTURES} AND (messages.seq, messages.boot) > (?, ?) ORDER BY messages.seq, messages.boot LIMIT ${PARTS}`,
        vin,
        classOf('capture'),
        after.seq,
        after.boot,
      );
      for (const row of rows) yield recordIn(row).record as Capture;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PARTS) return;
      after = { seq: last['seq'] as number, boot: last['boot'] as number };
    }
  }

  recordKeys(vin: string, collection: string, filter?: RecordFilter): HubKeyset<HubRecord> {
    return recordKeys(this.#select, vin, collection, filter);
  }

  vehicleKeys(prefix: string, owners?: readonly Owner[]): HubKeyset<HubPosition & { readonly vehicle: KnownVehicle }> {
    return vehicleKeys(this.#select, prefix, owners);
  }

  fleetRecordKeys(collection: string, asked: FleetRecordsAsked = {}): HubKeyset<FleetRecord> {
    return fleetRecordKeys(this.#select, collection, asked);
  }

  async fleetRecord(collection: string, id: string, owners?: readonly Owner[]): Promise<FleetRecord | undefined> {
    const owned = owners && carsOf(owners);
    const among = owned === undefined ? '' : `AND ${owned.sql}`;
    const sql = `${FLEETS} WHERE ${ACROSS_CARS} AND records.id = ? ${among} LIMIT 1`;
    const [row] = await this.#select(sql, collection, id, ...(owned?.values ?? []));
    return row && fleetRecordIn(row);
  }

  async pending(vin: string, now: number): Promise<readonly KeptCommand[]> {
    const rows = await this.#select(
      `${COMMANDS} AND expires > ? AND NOT final ORDER BY expires, counter, id`,
      vin,
      now,
    );
    return this.#commandsIn(vin, rows);
  }

  async command(vin: string, id: string): Promise<KeptCommand | undefined> {
    return (await this.#commandsIn(vin, await this.#select(`${COMMANDS} AND id = ?`, vin, id)))[0];
  }

  async commands(vin: string, before?: string): Promise<readonly KeptCommand[]> {
    const bound = before === undefined ? undefined : await this.command(vin, before);
    if (before !== undefined && bound === undefined) {
      throw new VigieError('input.malformed', 'must be the id of a command to this car', { where: 'before' });
    }
    const rows = await this.#select(
      `${COMMANDS} AND (requested, id) < (?, ?) ORDER BY requested DESC, id DESC LIMIT ${PAGE}`,
      vin,
      bound?.requested ?? Number.MAX_SAFE_INTEGER,
      bound?.id ?? '',
    );
    return this.#commandsIn(vin, rows);
  }

  async answeredKey(vin: string): Promise<string | undefined> {
    const [row] = await this.#select(
      `SELECT key FROM (SELECT id, key, requested FROM commands WHERE vehicle = ${CAR}
         ORDER BY requested DESC, id DESC LIMIT ${PAGE}) AS newest
       WHERE EXISTS (SELECT 1 FROM command_states WHERE command = newest.id)
       ORDER BY requested DESC, id DESC LIMIT 1`,
      vin,
    );
    return row?.['key'] as string | undefined;
  }

  async trustedKeys(vin: string): Promise<readonly HelloKey[] | undefined> {
    const [row] = await this.#select(`SELECT document FROM trusted_keys WHERE vehicle = ${CAR}`, vin);
    return row === undefined ? undefined : JSON.parse(row['document'] as string);
  }

  async throughCallback(vin: string, callbackId: string, id?: string): Promise<readonly CallbackCommand[]> {
    const rows = await this.#select(
      `SELECT commands.*, remote FROM callback_commands JOIN commands ON commands.id = callback_commands.command
       WHERE callback = ? AND vehicle = ${CAR} ${id === undefined ? '' : 'AND command = ?'}
       ORDER BY requested DESC, id DESC LIMIT ${COMMANDS_OF_CALLBACK}`,
      callbackId,
      vin,
      ...(id === undefined ? [] : [id]),
    );
    const commands = await this.#commandsIn(vin, rows);
    return commands.map((one, index) => {
      return { ...one, remote: JSON.parse(rows[index]?.['remote'] as string) as CallbackCommand['remote'] };
    });
  }

  async #commandsIn(vin: string, rows: readonly SqlRow[]): Promise<KeptCommand[]> {
    const found: KeptCommand[] = [];
    for (const row of rows) {
      const states = await this.#select(
        'SELECT boot, seq, status, cause, detail, at FROM command_states WHERE command = ?',
        row['id'] as string,
      );
      const inOrder = [...(states as readonly (SqlRow & MessageOrder)[])].sort((a, b) => (isAfter(a, b) ? 1 : -1));
      found.push(commandIn(vin, row, inOrder));
    }
    return found;
  }
}

/** Error for a command to a car without messages. */
export function unknownVehicle(vin: string): VigieError {
  return new VigieError(
    'request.unknown',
    `there is no vehicle "${vin}" here: the hub knows a car from its first message on`,
  );
}

/** Reads the numbers of a class from a row, where runs are JSON. */
export function numbersIn({ arrived, given_up: givenUp, starts, unsure_below: unsureBelow }: SqlRow): ClassNumbers {
  return new ClassNumbers({
    arrived: JSON.parse(arrived as string) as readonly Run[],
    givenUp: JSON.parse(givenUp as string) as readonly Run[],
    starts: JSON.parse(starts as string) as readonly KeptStart[],
    unsureBelow: unsureBelow as number,
  });
}

function fleetRecordIn(row: SqlRow): FleetRecord {
  return { vin: row['vin'] as string, ...recordIn(row) };
}

function commandIn(vin: string, row: SqlRow, states: readonly SqlRow[]): KeptCommand {
  return {
    id: row['id'] as string,
    vin,
    type: row['type'] as KeptCommand['type'],
    body: JSON.parse(row['body'] as string) as object,
    caller: row['caller'] as string,
    requested: row['requested'] as number,
    expires: row['expires'] as number,
    key: row['key'] as string,
    counter: row['counter'] as number,
    signed: row['signed'] as Uint8Array,
    states: states.map(({ status, cause, detail, at }) => ({
      status: status as CommandState['status'],
      ...(cause === null ? {} : { failureCause: cause as NonNullable<CommandState['failureCause']> }),
      ...(detail === null ? {} : { detail: detail as string }),
      at: at as number,
    })),
  };
}
