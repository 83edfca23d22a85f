/** The overview of all cars of a hub, on its real store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import { EventReader } from '../../../hub/core/events.ts';
import { FleetOverview } from '../../../hub/core/overview.ts';
import { SqliteDatabase, SqliteMessageStore, SqlOverview, SqlReader } from '../../../hub/database/index.ts';
import { overviewHandlers } from '../../../hub/http/overview.ts';
import type {
  FleetEvents as EventsAnswer,
  FleetPositions,
  FleetTable,
} from '../../../protocol/interface/own/hub-overview.ts';
import { NOON, received, trip } from '../messages.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-overview-'));
const CARS = 10_000;
let database: SqliteDatabase;
let store: SqliteMessageStore;
let now = NOON;
const queries: string[] = [];
let overview: FleetOverview;
let events: EventReader;

/** VIN of car `index`. A higher index was heard longer ago. */
function vinOf(index: number): string {
  return `VF3VGEHVB${String(index).padStart(8, '0')}`;
}

function statusOf(index: number, speed: number) {
  const createdAt = NOON;
  const lastPosition = {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [2 + index / CARS, 48 + index / CARS] },
    properties: { createdAt, type: 'Acquire' },
  };
  return { full: true, status: { kinetic: { createdAt, speed }, lastPosition } } as never;
}

async function ask<T>(id: string, query: Record<string, unknown> = {}): Promise<T> {
  const handlers = overviewHandlers({
    reader: new SqlReader(database.select),
    cars: () => overview.cars(),
    events: () => events.of(),
    unregistered: async () => 0,
    look: () => undefined,
    pushKey: 'BKey',
  });
  const answer = await handlers[id]?.({ query, now, path: {}, caller: { name: 'ops' } } as never);
  return answer?.body as T;
}

beforeAll(async () => {
  database = await SqliteDatabase.open(join(folder, 'hub.sqlite'));
  store = new SqliteMessageStore(database, idOf);
  const messages = Array.from({ length: CARS }, (_, index) =>
    received('status', statusOf(index, index % 130), {
      vin: vinOf(index),
      seq: index % 1_000 === 0 ? 2 : 0,
      received: NOON - index * 1_000,
    }),
  );
  await store.save(messages, []);
  const reader = new SqlOverview((sql, ...values) => {
    queries.push(sql);
    return database.select(sql, ...values);
  });
  const parts = { reader, clock: { now: () => now }, turn: () => new Promise<void>(setImmediate) };
  overview = new FleetOverview(parts);
  events = new EventReader(parts);
});

afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the table of 10,000 cars returns one page of rows, with totals for cars, missing numbers and data age', async () => {
  const table = await ask<FleetTable>('hub.vehicles.list');
  expect(table).toMatchObject({
    at: NOON,
    total: CARS,
    matching: CARS,
    missing: 20,
    ages: { minute: 60, hour: 3_540, day: 6_400, older: 0 },
  });
  expect(table.vehicles).toHaveLength(50);
  // Cars with missing numbers come first.
  expect(table.vehicles.slice(0, 11).map(({ missing }) => missing)).toEqual([2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0]);
  expect(table.vehicles[0]).toEqual({
    vin: vinOf(0),
    heard: NOON,
    missing: 2,
    speed: 0,
    latitude: 48,
    longitude: 2,
  });
});

test('the table is sorted by each column in both directions, and a page starts where the request says', async () => {
  const vins = async (query: Record<string, unknown>): Promise<readonly string[]> =>
    (await ask<FleetTable>('hub.vehicles.list', { pageSize: 2, ...query })).vehicles.map(({ vin }) => vin);
  expect(await vins({ sort: 'vin' })).toEqual([vinOf(0), vinOf(1)]);
  expect(await vins({ sort: 'vin', first: 4_999 })).toEqual([vinOf(4_999), vinOf(5_000)]);
  expect(await vins({ sort: '-vin' })).toEqual([vinOf(9_999), vinOf(9_998)]);
  expect(await vins({ sort: 'heard' })).toEqual([vinOf(9_999), vinOf(9_998)]);
  expect(await vins({ sort: '-heard' })).toEqual([vinOf(0), vinOf(1)]);
  // Rows with equal values are ordered by VIN.
  expect(await vins({ sort: '-speed' })).toEqual([vinOf(129), vinOf(259)]);
  expect(await vins({ sort: 'fuel' })).toEqual([vinOf(0), vinOf(1)]);
  expect(await vins({ sort: 'vin', first: CARS })).toEqual([]);
});

test('the table can be filtered by part of the VIN, in any letter case, and by the age of the data', async () => {
  const found = await ask<FleetTable>('hub.vehicles.list', { search: 'b0000001', sort: 'vin' });
  expect(found).toMatchObject({ total: CARS, matching: 10 });
  expect(found.vehicles.map(({ vin }) => vin)).toEqual(Array.from({ length: 10 }, (_, index) => vinOf(10 + index)));
  const fresh = await ask<FleetTable>('hub.vehicles.list', { age: 'minute', search: '0000001' });
  expect(fresh.matching).toBe(11);
  expect((await ask<FleetTable>('hub.vehicles.list', { search: 'nothing' })).vehicles).toEqual([]);
});

test('the map shows every position first, then only those of cars heard since', async () => {
  const all = await ask<FleetPositions>('hub.positions.list');
  expect(all.positions).toHaveLength(CARS);
  expect(all.positions).toContainEqual([vinOf(5_000), 48.5, 2.5, NOON - 5_000_000]);
  const since = await ask<FleetPositions>('hub.positions.list', { since: NOON - 2_000 });
  expect(since.positions.map(([vin]) => vin)).toEqual([vinOf(0), vinOf(1), vinOf(2)]);
});

test('new readings appear at the next poll, which reads only the cars heard since', async () => {
  await ask('hub.events.list');
  await store.save(
    [
      received('status', statusOf(7, 55), { vin: vinOf(7), seq: 1, received: NOON + 60_000 }),
      received('trip', trip('a', { done: false } as never), { vin: vinOf(7), seq: 0, received: NOON + 60_000 }),
      received('trip', trip('a', { done: true, distance: 12 } as never), {
        vin: vinOf(7),
        seq: 1,
        received: NOON + 60_001,
      }),
      received(
        'remote',
        { remoteActionId: 'a1', type: 'Doors', status: 'Accepted' },
        { vin: vinOf(7), seq: 0, received: NOON + 60_002 },
      ),
      received(
        'remote',
        { remoteActionId: 'a1', type: 'Doors', status: 'Success' },
        { vin: vinOf(7), seq: 1, received: NOON + 60_003 },
      ),
    ],
    [],
  );
  now = NOON + 60_003;
  queries.length = 0;
  const { vehicles } = await ask<FleetTable>('hub.vehicles.list', { search: vinOf(7) });
  expect(vehicles).toMatchObject([{ speed: 55, heard: NOON + 60_003, missing: 0 }]);
  const told = await ask<EventsAnswer>('hub.events.list');
  expect(told.events.map(({ vin, kind, body }) => [vin, kind, body['status'] ?? body['distance']])).toEqual([
    [vinOf(7), 'remote', 'Success'],
    [vinOf(7), 'trip', 12],
  ]);
  expect((await ask<EventsAnswer>('hub.events.list', { vin: vinOf(8) })).events).toEqual([]);
  // One batch of cars, its numbers, the count, the events. Requests after the first shared this result.
  expect(queries).toHaveLength(4);
});

test('events are found by index, for all cars and for one, however many other messages follow', async () => {
  const [message] = database.all('SELECT max(id) AS id FROM messages');
  database.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
     INSERT INTO messages (vehicle, class, seq, boot, kind, at, clock, received, payload)
     SELECT vehicle, 7, i, 9, 0, at, clock, received, payload FROM n, messages WHERE messages.id = ?`,
    Number(message?.['id']),
  );
  // Ongoing trips are not events: the query skips them.
  await store.save(
    Array.from({ length: 450 }, (_, seq) =>
      received('trip', trip(`b${seq}`, { done: false } as never), { vin: vinOf(8), seq: 10 + seq }),
    ),
    [],
  );
  const fresh = new EventReader({
    reader: new SqlOverview(database.select),
    clock: { now: () => now },
    turn: () => new Promise(setImmediate),
  });
  for (const scope of [{}, { vin: vinOf(7) }]) {
    expect((await fresh.of(scope)).map(({ vin, kind }) => [vin, kind])).toEqual([
      [vinOf(7), 'remote'],
      [vinOf(7), 'trip'],
    ]);
  }
  expect(await fresh.of({ vin: vinOf(8) })).toEqual([]);
  expect(await fresh.of({ owners: [{ kind: 'fleet', id: 'north' }] })).toEqual([]);
  const plans: string[] = [];
  const explaining = new SqlOverview(async (sql, ...values) => {
    plans.push(...database.all(`EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => String(detail)));
    return [];
  });
  for (const scope of [{}, { vin: vinOf(7) }]) await explaining.arrived({ ...scope, after: 0, before: 9, limit: 1 });
  expect(plans.filter((step) => step.includes('TEMP B-TREE'))).toEqual([]);
  // Query plans that find a page and that read its messages.
  const byKey = expect.stringContaining('SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)');
  expect(plans.filter((step) => step.includes(' messages '))).toEqual([
    expect.stringMatching(/SEARCH messages USING COVERING INDEX events \(/),
    byKey,
    expect.stringMatching(/SEARCH messages USING (COVERING )?INDEX events_of_car \(/),
    byKey,
  ]);
});

test('the table shows new readings after a hub with a fast clock and after a clock is set back', async () => {
  const speedAfter = async (seq: number, speed: number): Promise<number | undefined> => {
    now += 60_000;
    await store.save([received('status', statusOf(3, speed), { vin: vinOf(3), seq, received: now })], []);
    now += 1_000;
    return (await ask<FleetTable>('hub.vehicles.list', { search: vinOf(3) })).vehicles[0]?.speed;
  };
  const fast = now + 3 * 3_600_000;
  await store.save([received('status', statusOf(4, 1), { vin: vinOf(4), seq: 1, received: fast })], []);
  expect(await speedAfter(1, 31)).toBe(31);
  expect(await speedAfter(2, 32)).toBe(32);
  const right = now;
  now = fast + 60_000;
  await ask('hub.vehicles.list');
  now = right;
  expect(await speedAfter(3, 33)).toBe(33);
});

test('an erased car disappears from the table', async () => {
  database.run('PRAGMA foreign_keys = OFF');
  database.run('DELETE FROM vehicles WHERE vin = ?', vinOf(9));
  now += 60_000;
  expect(await ask<FleetTable>('hub.vehicles.list', { search: vinOf(9) })).toMatchObject({
    total: CARS - 1,
    matching: 0,
  });
});

test('returns the public key that browsers need for push subscriptions', async () => {
  expect(await ask('hub.pushKey.get')).toEqual({ publicKey: 'BKey' });
});
