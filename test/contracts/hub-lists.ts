/** Lists of a hub with many cars: content of their pages, and number of rows that the database reads for a page. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../adapters/http/call.ts';
import { PageTokens } from '../../adapters/http/paging.ts';
import { handlersOf } from '../../adapters/http/resources/index.ts';
import { idOf } from '../../assembly/view.ts';
import { EventReader } from '../../hub/core/events.ts';
import type { EventScope, MessageStore } from '../../hub/core/ports.ts';
import type { Registry } from '../../hub/core/registry.ts';
import { RegistryStates } from '../../hub/core/registry-state.ts';
import { SqlOverview } from '../../hub/database/overview-queries.ts';
import type { Select } from '../../hub/database/queries.ts';
import { SqlReader } from '../../hub/database/queries.ts';
import { diagnosticsHandlers } from '../../hub/http/diagnostics.ts';
import { servedTo } from '../../hub/start/access.ts';
import { servedVehicles } from '../../hub/start/vehicles.ts';
import type { Alert } from '../../protocol/schema/alert.ts';
import { telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath } from '../../protocol/slots.ts';
import { Asker } from '../adapters/http/resources/rig.ts';
import { NOON, received, trip } from '../hub/messages.ts';

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

export interface HubListsUnderTest {
  readonly store: MessageStore;
  readonly registry: Registry;
  readonly select: Select;
  close(): Promise<void>;
}

const vinOf = (car: number): string => `VF3VGELST${String(car).padStart(8, '0')}`;
/** Number of cars in the fleet north. Those of south come after them. */
const [NORTH, SOUTH] = [300, 5] as const;
const all = Array.from({ length: NORTH + SOUTH }, (_, car) => vinOf(car));

export function hubListsContract(name: string, create: () => Promise<HubListsUnderTest>): void {
  describe(`the lists of a hub on ${name} with ${NORTH + SOUTH} cars`, () => {
    let hub: HubListsUnderTest;
    let asker: Asker;
    let select: Select;
    /** Rows that the database has returned, and statements that it has executed. */
    let rowsRead = 0;
    let statements = 0;

    beforeAll(async () => {
      hub = await create();
      await hub.store.save(
        all.flatMap((vin, car) => {
          const startedAt = NOON + car * 1_000;
          const alert = { id: 'ee', createdAt: startedAt + 5, startedAt, type: 'AdBlueFault', active: true } as Alert;
          const times = { createdAt: startedAt, startedAt };
          return [
            received('trip', trip(`a${car}`, { ...times, distance: car, done: true }), { vin }),
            received('trip', trip('b', times), { vin, seq: 1 }),
            received('alert', { ...alert, tid: `a${car}` }, { vin }),
            ...[0, 1]
              .slice(car % 3)
              .map((seq) =>
                received('maintenance', { id: `c${seq}`, createdAt: NOON + seq } as never, { vin, seq: 2 + seq }),
              ),
          ];
        }),
        [],
      );
      for (const [car, vin] of all.entries()) {
        const fleet = { kind: 'fleet', id: car < NORTH ? 'north' : 'south' } as const;
        await hub.registry.add(vin, car % 100 === 0 ? [fleet, { kind: 'user', id: 'ada' }] : [fleet], NOON);
      }
      select = async (sql, ...values) => {
        const rows = await hub.select(sql, ...values);
        rowsRead += rows.length;
        statements++;
        return rows;
      };
      const states = new RegistryStates(hub.registry);
      asker = new Asker(
        handlersOf(servedTo(states, servedVehicles(new SqlReader(select))), new PageTokens(new Uint8Array(32).fill(7))),
      );
    });
    afterAll(() => hub.close());

    const fleet = (...fleets: string[]): Caller => ({ name: 'ops', fleets: new Set(fleets) });

    /** Names of the entries on all pages, from first to last, and the most rows read for one page. */
    async function walk(
      address: string,
      caller: Caller,
      collection: string,
      named: (entry: Json) => string,
      isParted = false,
    ) {
      const [found, totals]: [string[], Set<number>] = [[], new Set()];
      let most = 0;
      for (let next: string | undefined = address; next !== undefined; ) {
        [rowsRead, statements] = [0, 0];
        const { status, body } = await asker.get(next, { caller, now: NOON + 86_400_000 });
        expect(status).toBe(200);
        most = Math.max(most, rowsRead);
        // With the version of the registry there are five.
        if (!isParted) expect(statements).toBeLessThanOrEqual(4);
        const { total, _embedded, _links } = body as Json;
        totals.add(total);
        found.push(..._embedded[collection].map(named));
        next = _links.next?.href;
      }
      return { found, totals: [...totals], most };
    }

    test.each([
      ['the vehicles of a large fleet', '/fleets/north/vehicles', fleet('north', 'south'), all.slice(0, NORTH)],
      ['the vehicles of a small fleet', '/fleets/south/vehicles', fleet('south'), all.slice(NORTH)],
      ['the vehicles of a user', '/user/vehicles', { name: 'ada', user: 'ada' }, [0, 100, 200, 300].map(vinOf)],
      ['the vehicles of a user without cars', '/user/vehicles', { name: 'bob', user: 'bob' }, []],
      [
        'the vehicles with a VIN prefix',
        `/fleets/north/vehicles?vinPrefix=${vinOf(12).slice(0, 16)}`,
        fleet('north'),
        all.slice(10, 20),
      ],
    ])('%s are read page by page, without the other cars', async (_, address, caller, vins) => {
      const paged = `${address}${address.includes('?') ? '&' : '?'}pageSize=20`;
      const { found, totals, most } = await walk(paged, caller, 'vehicles', ({ vin }) => vin);
      expect({ found, totals }).toEqual({ found: vins, totals: [vins.length] });
      // For each vehicle: its row, its Status, its next service and a position. A few more rows for the page.
      expect(most).toBeLessThanOrEqual(4 * 20 + 20);
    });

    test('the Status of all vehicles of a fleet is read page by page', async () => {
      const named = ({ _links }: Json): string => _links.vehicle.href.split('/').at(-1);
      const { found, totals, most } = await walk('/fleets/north/status?pageSize=20', fleet('north'), 'status', named);
      expect([new Set(found).size, totals]).toEqual([NORTH, [NORTH]]);
      expect(most).toBeLessThanOrEqual(3 * 20 + 10);
    });

    test('a page of the trips or alerts of a car needs few statements, however many it has', async () => {
      for (const list of ['alerts', 'trips', 'collisions']) {
        const address = `/fleets/north/vehicles/${idOf(all[5] as string)}/${list}`;
        await asker.get(address, { caller: fleet('north') });
        statements = 0;
        await asker.get(address, { caller: fleet('north') });
        expect(statements).toBeLessThanOrEqual(4);
      }
    });

    const moment = (car: number): string => new Date(NOON + car * 1_000).toISOString();
    const between = (from: number, to: number): string => `timestamps=${moment(from)}/${moment(to)}`;
    const carsFrom = (from: number, to: number): string[] => all.slice(from, to + 1).map((vin) => idOf(vin));
    const carOf = ({ _links }: Json): string => new URL(_links.vehicle.href).pathname.split('/').at(-1) as string;

    test.each([
      ['trips', 'trips', 'states=Nominal', carsFrom(0, NORTH - 1)],
      ['trips', 'trips', 'distance=100-149', carsFrom(100, 149)],
      ['trips', 'trips', `states=Nominal&${between(290, 303)}`, carsFrom(290, NORTH - 1)],
      [
        'trips',
        'trips',
        `states=Nominal&${between(10, 12)}&${between(200, 230)}`,
        [...carsFrom(10, 12), ...carsFrom(200, 230)],
      ],
      ['alerts', 'alerts', '', carsFrom(0, NORTH - 1)],
      ['alerts', 'alerts', between(50, 99), carsFrom(50, 99)],
      ['collisions', 'Collisions', '', []],
    ])('%s of a fleet are read page by page and in order: %s by "%s"', async (path, name, question, cars) => {
      const address = `/fleets/north/${path}?pageSize=20${question === '' ? '' : `&${question}`}`;
      const { found, totals, most } = await walk(address, fleet('north'), name, carOf);
      expect({ found, totals }).toEqual({ found: cars, totals: [cars.length] });
      // For each record: its row, its vehicle with Status, a trip that it links to, and a position.
      expect(most).toBeLessThanOrEqual(4 * 20 + 20);
    });

    test('trips of more periods than one query can take are read page by page', async () => {
      const every = `timestamps=R400/${moment(-50)}/PT0S/PT1S`;
      const address = `/fleets/north/trips?states=Nominal&${every}`;
      const { found, totals } = await walk(address, fleet('north'), 'trips', carOf, true);
      expect({ found, totals }).toEqual({ found: carsFrom(0, NORTH - 1), totals: [NORTH] });
    });

    test('the next services of a fleet are read page by page, one of each car', async () => {
      const { found, totals, most } = await walk(
        '/fleets/north/maintenances?pageSize=20',
        ...([fleet('north'), 'maintenances', carOf] as const),
      );
      const cars = carsFrom(0, NORTH - 1).filter((_, car) => car % 3 !== 2);
      expect([new Set(found), found.length, totals]).toEqual([new Set(cars), cars.length, [cars.length]]);
      expect(most).toBeLessThanOrEqual(4 * 20 + 20);
    });

    test('alerts of a trip are found by trip, and trips of a car by their filters', async () => {
      const caller = fleet('north');
      const car = `/fleets/north/vehicles/${idOf(all[7] as string)}`;
      const totalOf = async (path: string): Promise<number> =>
        (await asker.get(`${car}/${path}`, { caller })).body['total'] as number;
      expect(await totalOf('trips/a7/alerts')).toBe(1);
      expect(await totalOf('trips/b/alerts')).toBe(0);
      expect(await totalOf('trips')).toBe(2);
      expect(await totalOf('trips?distance=7-7')).toBe(1);
      expect(await totalOf(`trips?${between(7, 7)}`)).toBe(2);
      expect(await totalOf(`alerts?${between(8, 9)}`)).toBe(0);
    });

    test('telemetry without timestamps covers the newest 2,000 messages, and a page walk keeps the same ones', async () => {
      const vin = all[1] as string;
      const slot = slotByPath.get('kinetic.speed') as Slot;
      const begin = (piece: number): number => NOON + piece * 60_000;
      const piece = (seq: number) => {
        const readings = [0, 30_000].map((late) => ({ slot, value: seq % 200, at: begin(seq) + late }));
        return received('telemetry', telemetryFromReadings(readings), { vin, seq, at: begin(seq + 1) });
      };
      const pieces = 2_300;
      await hub.store.save(
        Array.from({ length: pieces }, (_, seq) => piece(seq)),
        [],
      );
      const ask = async (address: string): Promise<Json> => {
        [rowsRead, statements] = [0, 0];
        return (await asker.get(address, { caller: fleet('north'), now: begin(pieces + 10) })).body;
      };
      const timesIn = ({ _embedded }: Json): number[] =>
        _embedded.telemetries.map(({ createdAt }: Json) => Date.parse(createdAt));
      const address = `/fleets/north/vehicles/${idOf(vin)}/telemetry`;
      // Positions of the pieces, the rows of the page, and a few rows of the vehicle.
      const most = 2_000 + 20 + 20;
      const sample = (index: number): number => begin(300) + index * 30_000;
      const samples = (from: number, to: number): number[] =>
        Array.from({ length: to - from }, (_, index) => sample(from + index));
      const first = await ask(`${address}?pageSize=40`);
      expect(rowsRead).toBeLessThanOrEqual(most);
      // The search reads 200 pieces with one statement, and the page its pieces with one.
      expect(statements).toBeLessThanOrEqual(2_000 / 200 + 5);
      expect([first.total, timesIn(first)]).toEqual([4_000, samples(0, 40)]);
      await hub.store.save([piece(pieces)], []);
      const second = await ask(first._links.next.href);
      expect(rowsRead).toBeLessThanOrEqual(most);
      expect([second.total, timesIn(second)]).toEqual([4_000, samples(40, 80)]);
      expect(timesIn(await ask(second._links.prev.href))).toEqual(samples(0, 40));
      const last = await ask(second._links.last.href);
      expect([last.total, timesIn(last), last._links.next]).toEqual([4_000, samples(3_960, 4_000), undefined]);
      expect(timesIn(await ask(second._links.first.href))).toEqual(samples(2, 42));
      const older = await ask(`${address}?timestamps=${new Date(begin(7)).toISOString()}/PT1M`);
      expect(timesIn(older)).toEqual([begin(7), begin(7) + 30_000, begin(8)]);
      expect(rowsRead).toBeLessThanOrEqual(20);
    });

    test('newest events are listed for all cars, for one car, or for the cars of an owner', async () => {
      const events = new EventReader({
        reader: new SqlOverview(hub.select),
        clock: { now: () => NOON },
        turn: () => new Promise(setImmediate),
      });
      const vinsIn = async (scope: EventScope) => (await events.of(scope)).map(({ vin }) => vin);
      expect(await vinsIn({})).toHaveLength(200);
      const [first = ''] = all;
      // One ended trip, one alert and two services.
      expect(await vinsIn({ vin: first })).toEqual([first, first, first, first]);
      const south = { owners: [{ kind: 'fleet', id: 'south' } as const] };
      expect(new Set(await vinsIn(south))).toEqual(new Set(all.slice(NORTH)));
      expect(await vinsIn({ ...south, vin: first })).toEqual([]);
      expect(await vinsIn({ owners: [] })).toEqual([]);
    });

    test('a vehicle is found by id without reading the others, and one of another fleet is not found', async () => {
      const { body } = await asker.get('/fleets/south/vehicles', { caller: fleet('south') });
      const [{ id }] = (body as Json)._embedded.vehicles;
      // The first request names new cars.
      await asker.get(`/fleets/south/vehicles/${id}`, { caller: fleet('south') });
      rowsRead = 0;
      expect((await asker.get(`/fleets/south/vehicles/${id}`, { caller: fleet('south') })).body).toMatchObject({ id });
      await expect(asker.get(`/fleets/north/vehicles/${id}`, { caller: fleet('north') })).rejects.toThrow(/no vehicle/);
      await expect(asker.get('/fleets/north/vehicles/ab', { caller: fleet('north') })).rejects.toThrow(/no vehicle/);
      expect(rowsRead).toBeLessThanOrEqual(10);
    });

    test('fault codes that are still reported are read without reading the others', async () => {
      const codeOf = (car: number): string => `P${String(car).padStart(4, '0')}`;
      const active = [10, 20, 200];
      await hub.store.save(
        all.map((vin, car) => {
          const times = { createdAt: NOON + car, firstSeenAt: NOON + car, lastSeenAt: NOON + car };
          const fault = { id: 'f1', ...times, active: active.includes(car), code: codeOf(car), unit: '7E8' };
          return received('fault', { ...fault, group: 'Powertrain', status: ['Stored'] }, { vin, seq: 50 });
        }),
        [],
      );
      const codesOf = async (query: object): Promise<[codes: string[], more: boolean]> => {
        rowsRead = 0;
        const handlers = diagnosticsHandlers({
          reader: new SqlReader(select),
          owners: () => [{ kind: 'fleet', id: 'north' }],
          captures: () => expect.unreachable(),
        });
        const call = { caller: fleet('north'), query, path: {} } as never;
        const answer: Json = await handlers['hub.faults.list']?.(call);
        const { faults, more } = answer.body;
        return [faults.map(({ code }: Json) => code), more];
      };
      expect(await codesOf({ active: 'true' })).toEqual([active.toReversed().map(codeOf), false]);
      expect(rowsRead).toBeLessThanOrEqual(active.length);
      expect(await codesOf({ active: 'true', limit: 2 })).toEqual([[codeOf(200), codeOf(20)], true]);
      expect(await codesOf({ limit: 1 })).toEqual([[codeOf(NORTH - 1)], true]);
      expect(rowsRead).toBeLessThanOrEqual(2);
      const [gone, more] = await codesOf({ active: 'false' });
      expect([gone.length, gone[0], more]).toEqual([NORTH - active.length, codeOf(NORTH - 1), false]);
    });
  });
}
