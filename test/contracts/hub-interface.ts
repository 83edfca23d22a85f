/** HTTP interface of a hub on any database, with real cars at its broker and requests of users. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import type { Run } from '../../protocol/runs.ts';
import { upTopic } from '../../protocol/topics.ts';
import { DrivingCar } from '../hub/driving-car.ts';
import { payloadOf, trip } from '../hub/messages.ts';
import { Observer } from '../rig/car.ts';
import { MemoryLog } from '../rig/log.ts';

const [FIRST, SECOND, SILENT] = ['VF3VGEHVBC0000001', 'VF3VGEHVBC0000002', 'VF3VGEHVBC0000009'] as const;
// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

/** Maximum number of links followed. It covers the first pages of long collections. */
const MOST_LINKS = 400;

/** Addresses in an answer, except templates with names to fill in. */
function linksIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (typeof value.href === 'string') return value.templated === true ? [] : [value.href];
  return Object.values(value).flatMap(linksIn);
}

interface Numbers {
  readonly kinds: readonly string[];
  readonly arrived: readonly Run[];
  readonly givenUp: readonly Run[];
  readonly missing: readonly Run[];
}

/** `database` returns the options that choose the database. */
export function hubInterfaceContract(name: string, database: () => Promise<Pick<HubOptions, 'database'>>): void {
  describe(`the interface of a hub on ${name}`, () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-'));
    const log = new MemoryLog();
    let hub: Hub;
    let cars: readonly DrivingCar[];

    async function get(path: string): Promise<{ readonly status: number; readonly body: Json }> {
      const url = path.startsWith('http') ? path : `${hub.interface.url}${path}`;
      const response = await fetch(url);
      return { status: response.status, body: await response.json() };
    }

    async function numbersOf(vin: string): Promise<readonly Numbers[]> {
      return (await get(`/vigie/v1/vehicles/${vin}/numbers`)).body.classes;
    }

    beforeAll(async () => {
      hub = await startHub({ data, ...(await database()), port: 0, http: 0, clock: new SystemClock(), log });
      const trust = join(data, 'keys', 'trust.json');
      cars = await Promise.all(
        [FIRST, SECOND].map((vin, index) =>
          new DrivingCar({ vin, url: hub.broker, scenario: index === 0 ? 'loop' : 'parked', trust }).start(),
        ),
      );
      const [driving, parked] = cars as readonly [DrivingCar, DrivingCar];
      await Promise.all([
        driving.untilTrip(),
        parked.until(() => parked.acknowledged.some(({ message }) => message.kind === 'status')),
      ]);
      // A link that comes up sends the newest Status first, so a lower number may arrive after it.
      for (const car of cars) {
        while ((await car.during(numbersOf(car.vin))).some(({ missing }) => missing.length > 0));
      }
      await Promise.all(cars.map((car) => car.stop()));
    });

    afterAll(async () => {
      for (const car of cars) await car.remove();
      await hub.stop();
      rmSync(data, { recursive: true, force: true });
    });

    test('lists every car that has sent a message, on both versions of the interface', async () => {
      for (const path of ['/fleets/local/vehicles', '/user/vehicles']) {
        const { status, body } = await get(path);
        expect(status).toBe(200);
        expect(body.total).toBe(2);
        expect(body._embedded.vehicles.map(({ vin }: Json) => vin).sort()).toEqual([FIRST, SECOND]);
        for (const vehicle of body._embedded.vehicles) expect((await get(vehicle._links.status.href)).status).toBe(200);
      }
    });

    test('shows the last Status of each car', async () => {
      for (const car of cars) {
        const { body } = await get(`/fleets/local/vehicles?vinPrefix=${car.vin}`);
        const [vehicle] = body._embedded.vehicles;
        const shown = await get(vehicle._links.status.href);
        const newest = car.acknowledged.filter(({ message }) => message.kind === 'status').at(-1)?.message;
        const whole = car.acknowledged.flatMap(({ message }) =>
          message.kind === 'status' && message.body.full ? [message.body.status] : [],
        );
        expect(newest).toBeDefined();
        // A change contains all objects that changed since the last full Status.
        const last = newest?.kind === 'status' ? { ...whole.at(-1), ...newest.body.status } : {};
        expect(shown.body.odometer.mileage).toBe(last.odometer?.mileage);
        expect(Date.parse(shown.body.odometer.createdAt)).toBe(last.odometer?.createdAt);
        expect(shown.body.lastPosition?.geometry).toEqual(last.lastPosition?.geometry);
      }
    });

    test('lists trips of a car with their waypoints and telemetry, and trips of a fleet', async () => {
      const { body } = await get(`/fleets/local/vehicles?vinPrefix=${FIRST}`);
      const [vehicle] = body._embedded.vehicles;
      const trips = (await get(vehicle._links.trips.href)).body._embedded.trips;
      const sent = new Map(
        (cars[0] as DrivingCar).acknowledged.flatMap(({ message }) =>
          message.kind === 'trip' ? [[message.body.id, message.body] as const] : [],
        ),
      );
      expect(trips.map(({ id }: Json) => id).sort()).toEqual([...sent.keys()].sort());
      const [ended] = trips.filter(({ done }: Json) => done === true);
      expect(ended.distance).toBeCloseTo(sent.get(ended.id)?.distance ?? Number.NaN, 6);
      expect((await get(ended._links.self.href)).body.id).toBe(ended.id);
      const way = await get(ended._links.waypoints.href);
      const { startedAt = 0, stoppedAt = 0 } = sent.get(ended.id) ?? {};
      const points = (cars[0] as DrivingCar).acknowledged
        .flatMap(({ message }) => (message.kind === 'waypoint' ? message.body.points : []))
        .filter(({ at }) => at >= startedAt && at <= stoppedAt);
      expect(points.length).toBeGreaterThan(2);
      expect(way.body.total).toBe(points.length);
      const telemetry = await get(ended._links.telemetry.href);
      expect(telemetry.body.total).toBeGreaterThan(10);
      const ofFleet = (await get('/fleets/local/trips')).body._embedded.trips;
      expect(ofFleet.map(({ id }: Json) => id)).toEqual(trips.map(({ id }: Json) => id));
      expect(ofFleet[0]._links.vehicle.href).toContain(vehicle.id);
    });

    test('lists the Status of all cars of a fleet with links to each car', async () => {
      const { body } = await get('/fleets/local/status');
      const listed = (await get('/fleets/local/vehicles')).body._embedded.vehicles;
      expect(body._embedded.status.map(({ _links }: Json) => _links.vehicle.href).sort()).toEqual(
        listed.map(({ _links }: Json) => _links.self.href).sort(),
      );
    });

    test('reports the message numbers of a car: acknowledged ones have arrived and are not missing', async () => {
      const within = (runs: readonly Run[], seq: number): boolean =>
        runs.some(([first, last]) => first <= seq && seq <= last);
      for (const car of cars) {
        const classes = await numbersOf(car.vin);
        expect(classes.length).toBeGreaterThanOrEqual(2);
        let known = 0;
        for (const { kinds, arrived, givenUp, missing } of classes) {
          const seqs = car.acknowledged
            .filter(({ message }) => kinds.includes(message.kind))
            .map((one) => one.message.seq);
          known += seqs.length;
          expect(givenUp).toEqual([]);
          expect(seqs.filter((seq) => !within(arrived, seq) || within(missing, seq))).toEqual([]);
        }
        expect(known).toBe(car.acknowledged.length);
      }
    });

    test('returns a table of all cars, their positions, newest events and values', async () => {
      const { body: table } = await get('/vigie/v1/vehicles?sort=vin&pageSize=1');
      expect(table).toMatchObject({ total: 2, missing: 0, matching: 2, vehicles: [{ vin: FIRST, missing: 0 }] });
      const second = await get('/vigie/v1/vehicles?sort=vin&pageSize=1&first=1');
      expect(second.body.vehicles).toMatchObject([{ vin: SECOND, electric: expect.any(Number) }]);
      const wrong = await get('/vigie/v1/vehicles?sort=colour');
      expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('sort')]);
      const { body: map } = await get('/vigie/v1/positions');
      expect(map.positions.map(([vin]: Json) => vin)).toContain(FIRST);
      const { body: news } = await get(`/vigie/v1/events?vin=${FIRST}`);
      expect(news.events.map(({ kind }: Json) => kind)).toContain('trip');
      const { body: car } = await get(`/vigie/v1/vehicles/${SECOND}/values`);
      expect(car.values).toContainEqual({ path: 'kinetic.speed', value: 0, at: expect.any(String), stale: false });
      const { body: described } = await get(`/vigie/v1/vehicles/${SECOND}/car`);
      expect(described.values).toContainEqual(
        expect.objectContaining({ path: 'kinetic.speed', unit: 'km/h', sources: [] }),
      );
      expect((await get(`/vigie/v1/vehicles/${SILENT}/values`)).status).toBe(404);
      const { body: orders } = await get('/vigie/v1/orders');
      expect(orders.kinds).toContainEqual({
        type: 'Doors',
        orders: [
          { name: 'lock', body: { door: { state: 'Locked' } } },
          { name: 'unlock', body: { door: { state: 'Unlocked' } } },
        ],
      });
      // The hub must accept each of these commands.
      for (const { body } of orders.kinds.flatMap(({ orders: some }: Json) => some)) {
        const given = await fetch(`${hub.interface.url}/vigie/v1/vehicles/${SECOND}/remotes`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        expect([body, given.status]).toEqual([body, 202]);
      }
    });

    test('answers 404 for a car that was never heard', async () => {
      expect((await get(`/vigie/v1/vehicles/${SILENT}/numbers`)).status).toBe(404);
      expect((await get('/fleets/local/vehicles/0000')).status).toBe(404);
      expect((await get('/fleets/other/vehicles')).status).toBe(404);
    });

    test('every link reachable from either entry point leads to an answer', async () => {
      const known = new Set(['/fleets', '/user'].map((path) => `${hub.interface.url}${path}`));
      const failed: string[] = [];
      // The set grows during the iteration, which includes the new entries.
      for (const href of known) {
        const { status, body } = await get(href);
        if (status !== 200) failed.push(`${status} ${href}`);
        for (const link of linksIn(body)) if (known.size < MOST_LINKS) known.add(link);
      }
      expect(failed).toEqual([]);
      const kinds = [
        'vehicles',
        'status',
        'trips',
        'wayPoints',
        'telemetry',
        'maintenance',
        'alerts',
        'collisions',
        'alarms',
      ];
      for (const kind of [...kinds, 'monitors', 'callbacks', 'lastPosition']) {
        expect(
          [...known].some((href) => new URL(href).pathname.includes(`/${kind}`)),
          kind,
        ).toBe(true);
      }
    });

    test('garbage of one client disturbs no other, and is quarantined', async () => {
      const client = await Observer.connect(hub.broker, 4);
      await client.send(upTopic(SILENT, 'trip'), Buffer.from('no message'));
      await client.send('elsewhere/entirely', 'not of a car');
      await client.send(upTopic(FIRST, 'trip'), Buffer.from(payloadOf('trip', trip('abc'), { seq: 100_000 })));
      await client.close();
      expect(log.lines.filter(({ event }) => event === 'hub.message.refused')).toMatchObject([
        { fields: { topic: upTopic(SILENT, 'trip') } },
      ]);
      expect((await get(`/vigie/v1/vehicles/${SILENT}/numbers`)).status).toBe(404);
      const { body } = await get(`/vigie/v1/vehicles/${FIRST}/numbers`);
      const trips = body.classes.find(({ class: number }: Json) => number === 2);
      expect(trips.missing).toHaveLength(1);
      expect(trips.missing[0][1]).toBe(99_999);
    });

    test('requests missing messages on demand with one signed command per class', async () => {
      const { classes } = (await get(`/vigie/v1/vehicles/${FIRST}/numbers`)).body;
      const lacking = classes.filter(({ missing }: Json) => missing.length > 0);
      expect(lacking).toHaveLength(1);
      const response = await fetch(`${hub.interface.url}/vigie/v1/vehicles/${FIRST}/resend`, { method: 'POST' });
      const { remotes } = (await response.json()) as Json;
      expect([response.status, remotes]).toMatchObject([
        202,
        [
          {
            type: 'Resend',
            body: { class: 2, numbers: lacking[0].missing },
            requestedBy: 'local',
            status: 'Requested',
          },
        ],
      ]);
      expect((await get(remotes[0]._links.self.href)).body).toEqual(remotes[0]);
      const silent = await fetch(`${hub.interface.url}/vigie/v1/vehicles/${SILENT}/resend`, { method: 'POST' });
      expect(silent.status).toBe(404);
    });
  });
}
