/**
 * Fills a PostgreSQL database of a hub with the messages of a large fleet, without a hub: the messages of one car are
 * made as a car makes them, and the database repeats them for all cars. Resumable: each portion is one commit.
 */
import pg from 'pg';
import { deflate } from '../../assembly/deflate.ts';
import { idOf } from '../../assembly/view.ts';
import { type CarMessage, readMessage, recordPlaceOf } from '../../hub/core/message.ts';
import { VehicleStatus } from '../../hub/core/vehicle-status.ts';
import { PostgresDatabase } from '../../hub/database/postgres/index.ts';
import { makePartitions, messagesTable, partitionDays } from '../../hub/database/postgres/partition-tables.ts';
import { FILL_RECORD_COUNTS } from '../../hub/database/record-counts.ts';
import { clockNumber, kindNumber } from '../../hub/database/rows.ts';
import { DAY } from '../../protocol/calendar.ts';
import { decodeMessage, encodeMessage } from '../../protocol/cbor/message.ts';
import { readingsFromTelemetry, telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { upTopic } from '../../protocol/topics.ts';
import { type Departure, recordDrive, silent } from '../scenarios/drive.ts';
import { fleetVin } from './car.ts';
import { recutTelemetry } from './recut.ts';

export interface FillOptions {
  /** Its user is a superuser. */
  readonly url: string;
  readonly cars: number;
  /** Number of messages of each car, at least {@link MIN_MESSAGES}. */
  readonly messages: number;
  /** Number of messages in one commit. */
  readonly portion?: number;
  /** Asked before each commit. If it returns false, filling stops, and the next call continues. */
  readonly proceed?: () => boolean;
  readonly say: (text: string) => void;
}

/** End of the 59 days that the cars have sent, UTC ms. */
export const FILLED_TO = Date.UTC(2026, 10, 10, 12);
export const FILLED_DAYS = 59;
export const FILLED_FLEET = 'north';
/** Numbers of records of a car; all other messages are telemetry. */
const TRIPS = 120;
const ALERTS = 40;
export const MIN_MESSAGES = 200;
const READINGS = 40;
const PORTION = 500_000;
/** Records of the next car are this much later, ms. */
const CAR_DELAY_MS = 11;
/** Row in the table of portions after all are stored and the records are counted. */
const COUNTED = -1;

/** A message of every car. */
type Row = readonly (string | number | Uint8Array | null)[];

/** @returns false if `proceed` stopped it */
export async function fillDatabase(options: FillOptions): Promise<boolean> {
  const { url, cars, messages } = options;
  const database = await PostgresDatabase.open(url, silent);
  const period = { from: FILLED_TO - FILLED_DAYS * DAY, to: FILLED_TO + DAY, days: partitionDays(undefined) };
  await database.transaction((execute) => makePartitions(execute, messagesTable('telemetry'), period));
  await database.close();
  const drive = await recordDrive(20);
  const rows = carMessages(drive, messages).map(rowOf);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Without triggers: the records are counted once, at the end.
    await client.query(`SET session_replication_role = replica;
      CREATE TABLE IF NOT EXISTS filled_portions (first int PRIMARY KEY);
      CREATE TEMPORARY TABLE template (place int PRIMARY KEY, class smallint, seq int, kind smallint, at bigint,
        payload bytea, collection text, id text, began bigint, trip text, distance float8, duration float8, state text)`);
    for (const [place, row] of rows.entries()) await addTemplate(client, [place, ...row]);
    await addCars(client, cars, drive);
    if (!(await copyPortions(client, rows, options))) return false;
    await commitOnce(client, COUNTED, async () => {
      await client.query(`TRUNCATE record_counts; ${FILL_RECORD_COUNTS}`);
    });
    await client.query('VACUUM ANALYZE');
    return true;
  } finally {
    await client.end();
  }
}

async function copyPortions(client: pg.Client, rows: readonly Row[], options: FillOptions): Promise<boolean> {
  const { cars, portion = PORTION, proceed = () => true, say } = options;
  const size = Math.max(1, Math.floor(portion / cars));
  for (let first = 0; first < rows.length; first += size) {
    if (!proceed()) return false;
    const end = Math.min(rows.length, first + size);
    await commitOnce(client, first, async () => {
      for (let place = first; place < end; place++) {
        const isRecord = rows[place]?.[COLLECTION] !== null;
        await client.query(isRecord ? COPY_RECORD : COPY_MESSAGE, [place]);
      }
    });
    say(`${end * cars} of ${rows.length * cars} messages`);
  }
  return proceed();
}

/** Runs `work` in a commit that also stores `number`, unless a commit stored it before. */
async function commitOnce(client: pg.Client, number: number, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN');
  const { rowCount } = await client.query('INSERT INTO filled_portions VALUES ($1) ON CONFLICT DO NOTHING', [number]);
  if (rowCount === 1) await work();
  await client.query('COMMIT');
}

const INTO_MESSAGES = 'INSERT INTO messages (vehicle, class, seq, boot, kind, at, clock, received, payload)';
const CHOSEN = 'FROM template CROSS JOIN vehicles WHERE place = $1';
const CLOCK = clockNumber('gnss');

/** Statements that repeat a message for all cars, as the cars send it at the same time. */
const COPY_MESSAGE = `${INTO_MESSAGES}
  SELECT vehicles.id, class, seq, 1, kind, at, ${CLOCK}, at + 1000, payload ${CHOSEN}`;
const COPY_RECORD = `WITH chosen AS (
    SELECT template.*, vehicles.id AS vehicle, vehicles.id * ${CAR_DELAY_MS} AS later ${CHOSEN}
  ), stored AS (
    ${INTO_MESSAGES} SELECT vehicle, class, seq, 1, kind, at + later, ${CLOCK}, at + later + 1000, payload FROM chosen
    RETURNING id, vehicle
  )
  INSERT INTO records (vehicle, collection, id, at, boot, seq, message, began, trip, distance, duration, state)
  SELECT chosen.vehicle, collection, chosen.id, at + later, 1, chosen.seq, stored.id, began + later, trip, distance,
    duration, state
  FROM chosen JOIN stored ON stored.vehicle = chosen.vehicle`;

async function addTemplate(client: pg.Client, row: Row): Promise<void> {
  const marks = row.map((_, index) => `$${index + 1}`).join(', ');
  await client.query(`INSERT INTO template VALUES (${marks})`, [...row]);
}

/** Place of the collection in a row; null if the message has no record. */
const COLLECTION = 5;

function rowOf({ class: priority, message, payload }: CarMessage): Row {
  const place = recordPlaceOf(message);
  const { began, trip = null, distance = null, duration = null, state = null } = place?.facts ?? {};
  const isRecord = place?.facts !== undefined;
  const own = isRecord
    ? [place.collection, place.id, began ?? null, trip, distance, duration, state]
    : Array(7).fill(null);
  return [priority, message.seq, kindNumber(message.kind), place?.at ?? message.at, payload, ...own];
}

/** Returns the messages of one car in order of time: trips with telemetry, and alerts. */
function carMessages(drive: readonly Departure[], messages: number): CarMessage[] {
  const pieces = recutTelemetry(drive, READINGS).map(({ payload }) => {
    const { kind, body } = decodeMessage(payload);
    return kind === 'telemetry' ? readingsFromTelemetry(body) : [];
  });
  const begin = FILLED_TO - FILLED_DAYS * DAY;
  const made: CarMessage[] = [];
  const number = new Map<string, number>();
  const add = (kind: 'telemetry' | 'trip' | 'alert' | 'maintenance', at: number, body: unknown): void => {
    const seq = number.get(kind === 'telemetry' ? kind : 'records') ?? 0;
    number.set(kind === 'telemetry' ? kind : 'records', seq + 1);
    const payload = encodeMessage({ version: 1, kind, seq, boot: 1, at, clock: 'gnss', body } as never);
    made.push(readMessage(upTopic(fleetVin(0), kind), payload, at));
  };
  const telemetry = messages - TRIPS - ALERTS - 1;
  const perTrip = telemetry / TRIPS;
  for (let trip = 0; trip < TRIPS; trip++) {
    const from = begin + Math.floor(((trip + 0.5) / TRIPS) * FILLED_DAYS * DAY);
    for (let piece = Math.floor(trip * perTrip); piece < Math.floor((trip + 1) * perTrip); piece++) {
      const readings = pieces[piece % pieces.length] ?? [];
      const at = from + (piece - Math.floor(trip * perTrip)) * 30_000;
      const start = Math.min(...readings.map((one) => one.at));
      const moved = readings.map((one) => ({ ...one, at: one.at - start + at }));
      add('telemetry', at + 30_000, telemetryFromReadings(moved, { deflate }));
    }
    const ended = from + Math.ceil(perTrip) * 30_000;
    const times = { createdAt: from, startedAt: from, stoppedAt: ended };
    add('trip', ended, {
      id: `a${trip}`,
      ...times,
      done: true,
      distance: 5 + (trip % 40),
      duration: (ended - from) / 1000,
    });
    if (trip % Math.round(TRIPS / ALERTS) === 0) {
      const alert = {
        id: `e${trip}`,
        createdAt: from + 40_000,
        startedAt: from + 30_000,
        active: false,
        tid: `a${trip}`,
      };
      add('alert', from + 40_000, { ...alert, type: 'RiskOfIce' });
    }
  }
  add('maintenance', FILLED_TO - DAY, { id: 'c0', createdAt: FILLED_TO - DAY });
  return made;
}

/** Adds the vehicles with Status, numbers and a fleet. */
async function addCars(client: pg.Client, cars: number, drive: readonly Departure[]): Promise<void> {
  const status = new VehicleStatus();
  for (const { payload } of drive) {
    const message = decodeMessage(payload);
    if (message.kind === 'status' || message.kind === 'vehicle') status.accept(message as never);
  }
  const vins = Array.from({ length: cars }, (_, car) => fleetVin(car));
  const statements: readonly (readonly [sql: string, values: unknown[]])[] = [
    [
      `INSERT INTO vehicles (vin, public_id, first_seen, last_seen, changed)
       SELECT vin, id, $3, $4, $4 FROM unnest($1::text[], $2::text[]) AS given (vin, id) ON CONFLICT DO NOTHING`,
      [vins, vins.map(idOf), FILLED_TO - FILLED_DAYS * DAY, FILLED_TO],
    ],
    ['INSERT INTO status SELECT id, $1 FROM vehicles ON CONFLICT DO NOTHING', [status.write()]],
    [`INSERT INTO owners VALUES ('fleet', $1, 0) ON CONFLICT DO NOTHING`, [FILLED_FLEET]],
    ['INSERT INTO cars (vin, added) SELECT vin, 0 FROM vehicles ON CONFLICT DO NOTHING', []],
    [`INSERT INTO owned_cars SELECT 'fleet', $1, vin FROM vehicles ON CONFLICT DO NOTHING`, [FILLED_FLEET]],
  ];
  for (const [sql, values] of statements) await client.query(sql, values);
}
