/** Queries with parameters and scopes on the bench car after a day. */
import { beforeAll, describe, expect, test } from 'vitest';
import { deviation } from '../../../../agent/model/position.ts';
import { recordDay, wallAt } from '../../../rig/day.ts';
import type { Alarm, Alert, Day, Trip } from './kept.ts';
import { keptOf } from './kept.ts';
import { Asker, carOf, entriesOf, type Json, liveDay, type Reply } from './rig.ts';

const FLEET = '/fleets/f1/vehicles/bench%20car%2F1';
const USER = '/user/vehicles/bench%20car%2F1';

let asker: Asker;
let day: Day;

beforeAll(async () => {
  const { agent, store } = await liveDay(await recordDay());
  day = keptOf(store.records);
  asker = new Asker(carOf({ status: agent.status, records: store.records, monitors: agent.monitors }));
}, 180_000);

/** Reads all entries of a collection, following its pages. */
async function walk(address: string, name: string, scopes?: readonly string[]): Promise<Json[]> {
  const caller = { name: 'u', ...(scopes === undefined ? {} : { scopes: new Set(scopes) }) };
  const entries: Json[] = [];
  let next: string | undefined = address;
  while (next !== undefined) {
    const { body }: Reply = await asker.get(next, { caller });
    entries.push(...entriesOf(body, name));
    next = body._links.next?.href;
    if (next === undefined) expect(entries).toHaveLength(body.total);
  }
  return entries;
}

const ids = (entries: readonly { id: string }[]): string[] => entries.map(({ id }) => id);
const iso = (at: number): string => new Date(at).toISOString();

describe('trips', () => {
  test('are listed completely in the order of time, with any page size', async () => {
    expect(day.trips.length).toBeGreaterThan(3);
    expect(ids(await walk(`${FLEET}/trips`, 'trips'))).toEqual(ids(day.trips));
    expect(ids(await walk(`${FLEET}/trips?pageSize=2`, 'trips'))).toEqual(ids(day.trips));
    expect(ids(await walk('/fleets/f1/trips?pageSize=1', 'trips'))).toEqual(ids(day.trips));
    expect(ids(await walk(`${USER}/trips?indexRange=1-2`, 'trips'))).toEqual(ids(day.trips.slice(1, 3)));
  });

  test('can be selected by start time, both ends included', async () => {
    const [, second, third] = day.trips as [Trip, Trip, Trip];
    const begin = iso(second.startedAt ?? 0);
    expect(ids(await walk(`${FLEET}/trips?timestamps=${begin}/${begin}`, 'trips'))).toEqual([second.id]);
    const before = iso((third.startedAt ?? 0) - 1);
    expect(ids(await walk(`${FLEET}/trips?timestamps=/${before}`, 'trips'))).toEqual(ids(day.trips.slice(0, 2)));
    expect(await walk(`${FLEET}/trips?timestamps=2001-01-01T00:00:00Z/P1D`, 'trips')).toEqual([]);
  });

  test('can be selected by distance, duration and state', async () => {
    const [first] = day.trips as [Trip];
    const { distance = 0, duration = 0 } = first;
    const near = Math.floor(distance * 10) / 10;
    expect(ids(await walk(`${FLEET}/trips?distance=${near}-${near + 0.1}`, 'trips'))).toEqual(
      ids(day.trips.filter((trip) => (trip.distance ?? 0) >= near && (trip.distance ?? 0) <= near + 0.1)),
    );
    expect(await walk(`${FLEET}/trips?distance=9999-`, 'trips')).toEqual([]);
    const long = await walk(`${FLEET}/trips?duration=${duration}-${duration}`, 'trips');
    expect(ids(long)).toContain(first.id);
    expect(ids(await walk(`${FLEET}/trips?duration=${duration + 1}-`, 'trips'))).not.toContain(first.id);
    const states = ['Nominal', 'DataLacking', 'Unstarted', 'Unfinished'];
    const byState = await Promise.all(states.map((state) => walk(`${FLEET}/trips?states=${state}`, 'trips')));
    expect(byState.flat()).toHaveLength(day.trips.length);
    for (const trip of byState[1] ?? []) expect(trip.faults[0].fault).toBe('DataLacking');
    for (const trip of byState[0] ?? []) expect(trip).not.toHaveProperty('faults');
  });

  test('have energy in cL and Wh for fleets, and in L and kWh for users', async () => {
    const fleet = await walk(`${FLEET}/trips`, 'trips');
    const user = await walk(`${USER}/trips`, 'trips');
    const used = (trip: Json | undefined, type: string): number =>
      trip?.energyConsumptions.find((one) => one.type === type)?.consumption ?? Number.NaN;
    for (const [index, trip] of fleet.entries()) {
      expect(used(user[index], 'Fuel')).toBeCloseTo(used(trip, 'Fuel') / 100, 9);
      expect(used(user[index], 'Electric')).toBeCloseTo(used(trip, 'Electric') / 1000, 9);
      expect(trip.vin).toBe('VF3VGEBENCH000001');
      expect(user[index]).not.toHaveProperty('vin');
    }
  });

  test('are hidden without the scope of trips, and have no positions without the scope of positions', async () => {
    expect(await walk(`${USER}/trips`, 'trips', ['data:position'])).toEqual([]);
    const trips = await walk(`${USER}/trips`, 'trips', ['data:trip']);
    expect(trips).toHaveLength(day.trips.length);
    for (const trip of trips) {
      expect(trip).not.toHaveProperty('startPosition');
      expect(trip._links).not.toHaveProperty('waypoints');
      expect(trip.distance).toBeGreaterThan(0);
    }
    const [trip] = day.trips as [Trip];
    const caller = { name: 'u', scopes: new Set(['data:position']) };
    await expect(asker.get(`${USER}/trips/${trip.id}`, { caller })).rejects.toMatchObject({ code: 'request.unknown' });
  });
});

describe('an open trip', () => {
  let halfway: Asker;
  let trip: Trip;
  let now: number;

  beforeAll(async () => {
    const log = await recordDay();
    // A trip without a fault, on which the car drives all the time.
    trip = day.trips[2] as Trip;
    expect(trip.faults).toBeUndefined();
    const { startedAt = 0, duration = 0 } = trip;
    const end = log.elapsed.findIndex((elapsed) => wallAt(elapsed) >= startedAt + duration * 500);
    now = wallAt(log.elapsed[end] as number);
    const { agent, store } = await liveDay(log, end);
    halfway = new Asker(
      carOf({
        status: agent.status,
        records: store.records,
        monitors: agent.monitors,
        openTrip: () => agent.openTrip,
      }),
    );
  }, 180_000);

  const found = async (query: string): Promise<readonly string[]> =>
    ids(entriesOf((await halfway.get(`${FLEET}/trips?${query}`, { now })).body, 'trips'));

  test('is reported with its current duration and distance', async () => {
    const { body } = await halfway.get(`${FLEET}/trips/${trip.id}`, { now });
    const shown = body as unknown as Trip & { updatedAt: string };
    const since = (now - (trip.startedAt ?? 0)) / 1000;
    expect(shown.done).toBe(false);
    expect(Math.abs((shown.duration ?? 0) - since)).toBeLessThanOrEqual(2);
    expect(Math.abs(Date.parse(shown.updatedAt) - now)).toBeLessThanOrEqual(2_000);
    expect(shown.distance).toBeGreaterThan((trip.distance ?? 0) / 4);
    expect(shown.distance).toBeLessThan((trip.distance ?? 0) * 0.75);
    expect(shown).not.toHaveProperty('stoppedAt');
    const listed = entriesOf((await halfway.get(`${FLEET}/trips`, { now })).body, 'trips');
    expect(listed.map(({ _links, ...one }) => one).at(-1)).toEqual(
      Object.fromEntries(Object.entries(body).filter(([name]) => name !== '_links')),
    );
  });

  test('is found by its current duration and distance', async () => {
    const half = Math.floor((trip.duration ?? 0) / 2);
    expect(await found(`duration=${half - 5}-${half + 5}`)).toContain(trip.id);
    expect(await found(`duration=0-${half - 5}`)).not.toContain(trip.id);
    const quarter = Math.floor((trip.distance ?? 0) * 2.5) / 10;
    expect(await found(`distance=${quarter}-`)).toContain(trip.id);
    expect(await found('distance=0-0.1')).not.toContain(trip.id);
  });

  test('has no state until it ends', async () => {
    expect(await found('')).toEqual(ids(day.trips.slice(0, 3)));
    expect(await found('states=Nominal')).not.toContain(trip.id);
    for (const state of ['Unstarted', 'DataLacking', 'Unfinished']) {
      expect(await found(`states=${state}`)).not.toContain(trip.id);
    }
  });
});

describe('waypoints', () => {
  test('are those of the trip, and with a tolerance fewer, with no deviation larger than that', async () => {
    const [trip] = day.trips as [Trip];
    const all = await walk(`${FLEET}/trips/${trip.id}/wayPoints?pageSize=7`, 'positions');
    const expected = day.points.filter(({ at }) => at >= (trip.startedAt ?? 0) && at <= (trip.stoppedAt ?? 0));
    expect(all.map(({ properties }) => properties.createdAt)).toEqual(expected.map(({ at }) => iso(at)));
    expect(all.map(({ geometry }) => geometry.coordinates.slice(0, 2))).toEqual(
      expected.map(({ longitude, latitude }) => [longitude, latitude]),
    );
    expect(all.map(({ properties }) => [properties.speed, properties.gap])).toEqual(
      expected.map(({ speed, gap }) => [speed, gap]),
    );
    expect(all.some(({ properties }) => properties.speed > 0)).toBe(true);
    const few = await walk(`${FLEET}/trips/${trip.id}/wayPoints?tolerance=0.3`, 'positions');
    expect(few.length).toBeLessThan(all.length);
    const times = few.map(({ properties }) => Date.parse(properties.createdAt));
    for (const point of expected) {
      const after = times.findIndex((time) => time >= point.at);
      const [from, to] = [times[Math.max(0, after - 1)], times[after]].map((time) =>
        expected.find(({ at }) => at === time),
      );
      if (from !== undefined && to !== undefined) expect(deviation(from, to, point)).toBeLessThanOrEqual(300);
    }
  });

  test('of a theft are those recorded during it', async () => {
    const [theft] = (await asker.get(`${FLEET}/stolen`)).body._embedded.stolen;
    const points = await walk(theft._links.waypoints.href, 'positions');
    expect(points.length).toBeGreaterThan(0);
    for (const { properties } of points) {
      expect(properties.createdAt >= theft.startedAt && properties.createdAt <= theft.endAt).toBe(true);
    }
  });
});

describe('alerts and alarms', () => {
  test('of a trip are those with its id', async () => {
    const [alert] = day.alerts.filter(({ tid }) => tid !== undefined) as [Alert];
    const other = day.trips.find(({ id }) => id !== alert.tid) as Trip;
    const ofTrip = await walk(`${FLEET}/trips/${alert.tid}/alerts`, 'alerts');
    expect(ids(ofTrip)).toEqual(ids(day.alerts.filter(({ tid }) => tid === alert.tid)));
    await expect(asker.get(`${FLEET}/trips/${other.id}/alerts/${alert.id}`)).rejects.toMatchObject({
      code: 'request.unknown',
    });
    expect((await asker.get(`${FLEET}/trips/${alert.tid}/alerts/${alert.id}`)).body.tid).toBe(alert.tid);
  });

  test('of a user need the scope of alerts', async () => {
    expect(await walk(`${USER}/alerts`, 'alerts', ['data:position'])).toEqual([]);
    const alerts = await walk(`${USER}/alerts`, 'alerts', ['data:alert']);
    expect(ids(alerts)).toEqual(ids(day.alerts));
    for (const alert of alerts) expect(alert).not.toHaveProperty('startPosition');
  });

  test('can be selected by type of alarm', async () => {
    const of = (type: string): Promise<Json[]> => walk(`${FLEET}/alarms?type=vehicle.alarm.${type}`, 'alarms');
    expect(ids(await of('trigger'))).toEqual(ids(day.alarms.filter(({ trigger }: Alarm) => trigger !== undefined)));
    expect(ids(await of('status'))).toEqual(ids(day.alarms.filter(({ status }: Alarm) => status !== undefined)));
    expect((await of('trigger')).length).toBeGreaterThan(0);
  });
});

describe('telemetry', () => {
  test('has every reading once, at most a second later', async () => {
    const entries = await walk(`${FLEET}/telemetry?type=vehicle.doorsState&pageSize=2000`, 'telemetries');
    const told = entries.flatMap(({ createdAt, vehicle: { doorsState } }) =>
      (doorsState.opening ?? []).map(({ identifier, state }: Json) => ({
        at: Date.parse(createdAt),
        identifier,
        state,
      })),
    );
    const read = day.readings.filter(({ slot }) => slot.path.startsWith('doorsState.opening.'));
    expect(told).toHaveLength(read.length);
    for (const { slot, at, value } of read) {
      const identifier = slot.path.split('.')[2];
      expect(
        told.some((one) => one.identifier === identifier && one.state === value && one.at >= at && one.at < at + 1_000),
      ).toBe(true);
    }
  });

  test('of a type contains nothing else', async () => {
    for (const [type, members] of [
      ['environment', ['environment']],
      ['vehicle.engines,vehicle.energies', ['vehicle']],
      ['privacy', ['privacy']],
    ] as const) {
      const entries = await walk(`${FLEET}/telemetry?type=${type}&pageSize=2000`, 'telemetries');
      expect(entries.length, type).toBeGreaterThan(0);
      for (const { _links, createdAt, ...rest } of entries) expect(Object.keys(rest), type).toEqual(members);
    }
    const energies = await walk(`${FLEET}/telemetry?type=vehicle.energies&pageSize=2000`, 'telemetries');
    for (const { vehicle } of energies) expect(Object.keys(vehicle)).toEqual(['energies']);
  });

  test('can be read again by the link of an entry', async () => {
    const { body } = await asker.get(`${USER}/telemetry?pageSize=20&indexRange=100-`);
    for (const entry of body._embedded.telemetries) {
      const again = (await asker.get(entry._links.self.href)).body;
      expect(again.total).toBe(1);
      expect(again._embedded.telemetries).toEqual([entry]);
    }
  });

  test('of a trip lies within the trip', async () => {
    const [, trip] = day.trips as [Trip, Trip];
    const entries = await walk(`${FLEET}/trips/${trip.id}/telemetry?pageSize=2000`, 'telemetries');
    expect(entries.length).toBeGreaterThan(100);
    for (const { createdAt } of entries) {
      expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(trip.startedAt ?? 0);
      expect(Date.parse(createdAt)).toBeLessThanOrEqual(trip.stoppedAt ?? 0);
    }
  });

  test('contains positions only from received fixes, and none while the location was private', async () => {
    const entries = await walk(`${FLEET}/telemetry?pageSize=2000&extension=location`, 'telemetries');
    const places = entries.filter(({ _embedded }) => _embedded !== undefined);
    expect(places.length).toBeGreaterThan(1_000);
    expect(places.length).toBeLessThan(entries.length);
    const privacy = day.readings.filter(({ slot }) => slot.path === 'privacy.state').sort((a, b) => a.at - b.at);
    expect(privacy.some(({ value }) => value === 'Geolocation')).toBe(true);
    for (const { createdAt } of places) {
      const at = Date.parse(createdAt);
      // During the second of a change, both states were in force.
      const states = privacy.filter((one) => one.at <= at);
      const around = states.filter((one) => one.at > at - 1_000 || one === states.at(-1));
      expect(around.length === 0 || around.some(({ value }) => value === 'None')).toBe(true);
    }
  });

  test('contains only positions without the scope of telemetry', async () => {
    expect(await walk(`${USER}/telemetry?pageSize=2000`, 'telemetries', ['data:position'])).toEqual([]);
    const places = await walk(`${USER}/telemetry?pageSize=2000&extension=location`, 'telemetries', ['data:position']);
    expect(places.length).toBeGreaterThan(1_000);
    for (const entry of places) expect(entry).not.toHaveProperty('vehicle');
  });
});

describe('vehicles', () => {
  test('can be selected by the beginning of the VIN', async () => {
    expect(await walk('/fleets/f1/vehicles?vinPrefix=vf3', 'vehicles')).toHaveLength(1);
    expect(await walk('/user/vehicles?vinPrefix=WDB', 'vehicles')).toEqual([]);
  });

  test('have a label in the nearest language', async () => {
    const label = async (locale: string): Promise<string> =>
      (await asker.get(`${USER}?extension=branding${locale}`)).body._embedded.extension.branding.label;
    expect(await label('&locale=fr-CA')).toBe('Voiture banc');
    expect(await label('&locale=pt_br')).toBe('Carro de bancada');
    expect(await label('&locale=de')).toBe('Bench car');
    expect(await label('')).toBe('Bench car');
  });

  test('have the call centre of the country, if there is one', async () => {
    expect((await asker.get(`${USER}?country=BR`)).body.callCenter).toEqual({
      stolen: { countryCode: 'BR', phoneNumber: '+55 11 0000' },
    });
    expect((await asker.get(`${USER}?country=CL`)).body).not.toHaveProperty('callCenter');
  });

  test('do not exist in another fleet, under another id, or for another caller', async () => {
    for (const address of [
      '/fleets/f3',
      '/fleets/f3/vehicles',
      '/fleets/f1/vehicles/other',
      '/vehicles/VF3OTHER000000001',
      '/user/vehicles/other/status',
      `${FLEET}/trips/none`,
      `${FLEET}/stolen/none`,
      `${FLEET}/alarms/none`,
      `${FLEET}/collisions/none`,
    ]) {
      await expect(asker.get(address), address).rejects.toMatchObject({ code: 'request.unknown' });
    }
    const caller = { name: 'second', fleets: new Set(['f2']) };
    expect((await asker.get('/fleets', { caller })).body._embedded.fleets.map((fleet: Json) => fleet.id)).toEqual([
      'f2',
    ]);
    await expect(asker.get('/fleets/f1', { caller })).rejects.toMatchObject({ code: 'request.unknown' });
  });
});
