/** Notifications must contain the same objects as the HTTP interface of their side. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Status } from '../../agent/model/status.ts';
import { Monitors } from '../../agent/monitors/monitors.ts';
import type { RemoteAction } from '../../agent/remotes/requests.ts';
import { defined } from '../../protocol/defined.ts';
import type { Side } from '../../protocol/interface/operation.ts';
import type { Body } from '../../protocol/schema/message.ts';
import { extensionTypes, telemetrySections } from '../../protocol/schema/monitor/extensions.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import { telemetryFromReadings, telemetrySlots } from '../../protocol/schema/telemetry.ts';
import { assemble, type SlotValue, slots, statusObjects } from '../../protocol/slots.ts';
import { CallbackRig, vehicle, webhook } from '../agent/callbacks/rig.ts';
import { knowledge } from '../protocol/schema/arbitrary.ts';
import { Reference } from './http/resources/reference.ts';
import { Asker, carOf, type Json, Remotes } from './http/resources/rig.ts';

const T = Date.UTC(2026, 4, 6, 7, 8, 9, 10);
const place = (longitude: number) => ({
  type: 'Feature' as const,
  geometry: { type: 'Point' as const, coordinates: [longitude, 48.85, 35] as [number, number, number] },
  properties: {
    createdAt: T - 1_000,
    heading: 90,
    signalQuality: 7,
    type: 'Acquire' as const,
    fixStatus: '3D' as const,
  },
});
const stamps = { createdAt: T, updatedAt: T };

/** Records with every member of their kind. */
const trip: Body<'trip'> = {
  ...stamps,
  id: 'a1-1',
  startedAt: T - 5_000,
  stoppedAt: T - 1_000,
  startPosition: place(2.1),
  stopPosition: place(2.2),
  duration: 4,
  distance: 0.3,
  startMileage: 1_000.5,
  startEnergies: [{ type: 'Fuel', subType: 'FossilEnergy', level: 50, autonomy: 300 }],
  endEnergies: [{ type: 'Fuel', subType: 'FossilEnergy', level: 49.5, autonomy: 297 }],
  energyConsumptions: [
    { type: 'Fuel', subType: 'FossilEnergy', consumption: 123.4, avgConsumption: 550 },
    { type: 'Electric', subType: 'ElectricEnergy', consumption: 2_345.6, avgConsumption: 1_500 },
  ],
  kinetic: { avgSpeed: 40, maxSpeed: 80 },
  segments: [{ propulsion: 'Thermal', percent: 100, distance: 0.3 }],
  done: true,
  faults: [{ fault: 'DataLacking', cause: 'Connection' }],
};
const collision: Body<'collision'> = {
  ...stamps,
  id: 'c1-1',
  details: [{ side: 'Front', severity: 'Minor' }],
  tippedOver: true,
  pedestrian: true,
  tid: trip.id,
  position: place(2.3),
  longitudinalChange: -12.5,
  lateralChange: 1.5,
  pulse: { start: T - 100, interval: 1, longitudinal: [-1, -2] },
  readings: telemetryFromReadings([]),
};
const active: Body<'alert'> = {
  ...stamps,
  id: 'e1-1',
  active: true,
  type: 'FuelLevelLow',
  severity: 'Warning',
  startedAt: T - 2_000,
  startPosition: place(2.4),
  tid: trip.id,
};
/** An alert that never changed: the published model of the user line requires `updatedAt` all the same. */
const { updatedAt: _, ...unchanged } = { ...active, id: 'e1-2', type: 'LeftFrontDoorOpen' as const };
const ended: Body<'alert'> = { ...active, active: false, endAt: T, endPosition: place(2.5) };
const maintenance: Body<'maintenance'> = {
  ...stamps,
  id: 'm1-1',
  daysBeforeMaintenance: -3,
  mileageBeforeMaintenance: 12.5,
};
const stolen: Body<'stolen'> = {
  ...stamps,
  id: 's1-1',
  state: true,
  startedAt: T - 3_000,
  startPosition: place(2.6),
  endPosition: place(2.7),
  endAt: T,
};
const alarm: Body<'alarm'> = {
  createdAt: T,
  id: 'b1-1',
  trigger: { createdAt: T, type: 'RoofBreakIn', startAt: T - 4_000, position: place(2.8) },
};

/**
 * Slot values, all read at T, with privacy off. With `readings`, only values that stored telemetry can have, i.e. no
 * programs and no positions of alarms.
 */
function contentsOf(values: readonly (SlotValue | undefined)[], readings: boolean) {
  const all = slots.map((slot) => {
    if (slot.path === 'privacy.state') return 'None';
    return readings && !telemetrySlots.has(slot) ? undefined : values[slot.index];
  });
  return { all, contents: assemble(all, new Float64Array(statusObjects.length).fill(T)) };
}

/** A value for every slot. */
const everything = slots.map((slot): SlotValue => {
  if (slot.path.endsWith('.programs'))
    return [{ start: 'PT14H30M', enabled: true, slot: 1, occurence: { day: ['Mon'] } }];
  if (slot.path === 'alarm.trigger.position') return place(2.9);
  if (slot.path.endsWith('osition')) return place(3);
  const { kind, values = [], minimum = 0 } = slot;
  if (kind === 'instant') return T - 60_000;
  if (kind === 'flag') return true;
  if (kind === 'set') return [...values];
  if (kind === 'enumeration') return values.includes('Off') ? 'Off' : (values[0] as string);
  return kind === 'text' ? 'PT45M' : Math.max(minimum, 1);
});

type Members = Readonly<Record<string, unknown>>;
type Extension = { readonly type: string; readonly body: Members };

/** An event as a side receives it. */
interface Told {
  readonly values: readonly { readonly data: string; readonly objects: readonly Members[] }[];
  readonly extensions: readonly Extension[];
}

/** A car with records of every kind, monitors, callbacks and its interface. */
class World {
  readonly rig = new CallbackRig();
  readonly remotes = new Remotes();
  /** The open trip with its current values. */
  openTrip: Body<'trip'> | undefined;
  readonly #asker: Asker;
  readonly #monitors: Monitors;
  readonly #side: Side;

  constructor(side: Side, values: readonly (SlotValue | undefined)[], readings = false) {
    const { rig, remotes } = this;
    const { all, contents } = contentsOf(values, readings);
    const status = new Status();
    status.restore(contents);
    this.#side = side;
    const { callbacks, records } = rig;
    const car = carOf({ status, records, monitors: noMonitors, callbacks, remotes, openTrip: () => this.openTrip });
    this.#asker = new Asker({ ...car, vehicle: { ...car.vehicle, ...vehicle, id: vehicle.vid } });
    const taken = slots
      .filter((slot) => telemetrySlots.has(slot) && all[slot.index] !== undefined)
      .map((slot) => ({ slot, value: all[slot.index] as SlotValue, at: T }));
    rig.records.put('telemetry', { id: 'r1', at: T, record: telemetryFromReadings(taken) });
    this.#monitors = new Monitors({
      status,
      trips: { present: () => this.openTrip },
      log: rig.log,
      emit: (event) => rig.callbacks.event(event),
    });
  }

  /** Creates monitors for alerts and collisions, with every extension. */
  watch(subscribeParam: Members): void {
    const sections = Object.keys(telemetrySections).map((section) => `vehicle.telemetry.${section}`);
    for (const [id, data, value] of [
      ['a', 'vehicle.alert', undefined],
      ['b', 'vehicle.collision.side', ['Front']],
    ] as const) {
      const op = value === undefined ? 'onChange' : 'includedIn';
      const monitor = this.#monitors.put(
        id,
        {
          label: id,
          subscribeParam,
          extendedEventParam: [...extensionTypes, ...sections],
          triggerParam: { triggers: [{ name: 't', data: { data, op, ...(value && { value }) } }], boolExp: 't' },
        },
        T,
      );
      this.rig.monitors.set(id, monitor);
    }
  }

  record<K extends 'trip' | 'collision' | 'alert' | 'maintenance' | 'stolen' | 'alarm'>(
    kind: K,
    record: Body<K>,
  ): void {
    const { id } = record as { id: string };
    const previous = this.rig.records.get(kind, id)?.record as Body<K> | undefined;
    this.rig.records.put(kind, { id, at: T, record });
    this.#monitors.recorded(kind, record, previous);
  }

  /** Adds records of every kind. Alerts and the collision come last and cause notifications. */
  live(): void {
    this.record('trip', trip);
    this.record('maintenance', maintenance);
    this.record('stolen', stolen);
    this.record('alarm', alarm);
    this.record('alert', active);
    this.record('collision', collision);
    this.record('alert', unchanged as Body<'alert'>);
    this.record('alert', ended);
  }

  /** All events received so far, on any channel. */
  async told(): Promise<Told[]> {
    await this.rig.pass(0);
    return this.rig.sent.flatMap(({ channel, request }) => {
      if (channel === 'websocket') return request.messages.map(({ content }) => userTold(content as Json));
      if (channel === 'pushnotif') return [userTold(JSON.parse(request.payload).message)];
      const body = JSON.parse(request.body);
      if (this.#side === 'fleet') return body.events.map(fleetTold);
      return [body].flat().map(userTold);
    });
  }

  /** The interface's answer without links; undefined if it has no such resource. */
  async answer(path: string, now = T): Promise<unknown> {
    const base = this.#side === 'fleet' ? `/fleets/f1/vehicles/${vehicle.vid}` : `/user/vehicles/${vehicle.vid}`;
    try {
      return withoutLinks((await this.#asker.get(`${base}${path}`, { now })).body);
    } catch (error) {
      expect((error as { code?: string }).code).toBe('request.unknown');
      return undefined;
    }
  }

  /** The interface's answer for the command that was sent with a callback. */
  async remote(callbackId: string): Promise<unknown> {
    const owner = this.#side === 'fleet' ? '/fleets/f1/vehicles/' : '/user/vehicles/';
    const address = `${owner}${vehicle.vid}/callbacks/${callbackId}/remotes/r-1`;
    return withoutLinks((await this.#asker.get(address, { now: T })).body);
  }

  /** The interface's answer for an extension. */
  async extension(type: string, section: string | undefined): Promise<Members> {
    const named = async (name: string, path: string): Promise<Members> => {
      const answer = await this.answer(path);
      return answer === undefined ? {} : { [name]: answer };
    };
    switch (type) {
      case 'vehicle.doorsState': {
        const { doorsState } = (await this.answer('/status')) as { doorsState?: unknown };
        return defined({ doorState: doorsState });
      }
      case 'vehicle.status':
        return named('status', '/status');
      case 'vehicle.position':
        return named('position', '/lastPosition');
      case 'vehicle.telemetry': {
        const query = section === undefined ? '' : `?type=${section}`;
        const { _embedded } = (await this.answer(`/telemetry${query}`)) as Json;
        const [telemetry] = _embedded.telemetries as readonly (object | undefined)[];
        // Some readings, such as parts of an alarm, yield no object, so a sample may be empty.
        return telemetry === undefined || Object.keys(telemetry).length === 1 ? {} : { telemetry };
      }
      case 'vehicle.maintenance':
        return named('maintenance', '/maintenance');
      case 'vehicle.collisions':
        return named('collisions', `/collisions/${collision.id}`);
      case 'vehicle.trip':
        return named('trip', `/trips/${trip.id}`);
      case 'vehicle.stolen':
        return named('stolen', `/stolen/${stolen.id}`);
      case 'vehicle.alarm':
        return named('alarm', `/alarms/${alarm.id}`);
      default:
        throw new Error(`no answer for ${type}`);
    }
  }
}

const fail = (): never => {
  throw new Error('nobody asks for this');
};
const noMonitors = { all: [], get: () => undefined, put: fail, setStatus: fail, remove: fail };

function withoutLinks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLinks);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (name === '_links' ? [] : [[name, withoutLinks(member)]])),
  );
}

function fleetTold({ values, extensions }: Json & { values: Json[]; extensions: Json[] }): Told {
  return { values: values.map(objectsOf), extensions: extensions as unknown as Extension[] };
}

function userTold({ monitorEvent }: Json & { monitorEvent?: Json & { values?: Json[]; extensions?: Json[] } }): Told {
  const { values = [], extensions = [] } = monitorEvent ?? {};
  return {
    values: values.map(objectsOf),
    extensions: extensions.map(({ type, body }: Json & { body?: Members[] }) => {
      expect(Array.isArray(body)).toBe(true);
      return { type, body: Object.assign({}, ...(body ?? [])) };
    }),
  };
}

function objectsOf({ data, value }: Json & { data?: string; value?: { body: { objectValues?: Members[] } } }) {
  return { data: data ?? '', objects: value?.body.objectValues ?? [] };
}

const channels: Readonly<Record<Side, Readonly<Record<string, (world: World) => void>>>> = {
  fleet: { webhook: (world) => world.watch({ callback: { webhook } }) },
  user: {
    webhook: (world) => userWatch(world, { webhook }),
    websocket: (world) => userWatch(world, { websocket: { target: 'wss://receiver.example/' } }),
    pushnotif: (world) => userWatch(world, { pushnotif: { devices: [device] } }),
  },
};
const device = JSON.stringify({
  endpoint: 'https://push.example/1',
  keys: {
    p256dh: 'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
    auth: 'tBHItJI5svbpez7KI4CCXg',
  },
});

function userWatch(world: World, channel: Members): void {
  const { callbackId } = world.rig.callbacks.add('user', { callback: channel });
  world.watch({ callbackId });
}

const cases = Object.entries(channels).flatMap(([side, by]) =>
  Object.entries(by).map(([channel, watch]) => [side as Side, channel, watch] as const),
);

/** Checks alerts: those that are active, and the one that has just ended. */
async function expectAlerts(world: World, alerts: readonly Members[], ids: readonly string[]): Promise<void> {
  expect(alerts.map(({ id }) => id)).toEqual(ids);
  for (const alert of alerts) {
    // The state of the alert before its end is no longer available.
    if (alert['id'] === active.id && alert['active'] === true) continue;
    expect(alert).toEqual(await world.answer(`/alerts/${String(alert['id'])}`));
  }
}

test.each(cases)(
  '%s side, %s: values in a notification equal the answers of the interface',
  async (side, _name, watch) => {
    const world = new World(side, []);
    watch(world);
    world.live();
    const told = await world.told();
    const values = told.flatMap((event) => event.values);
    expect(values.map(({ data, objects }) => [data, objects.length])).toEqual([
      ['vehicle.alert', 1],
      ['vehicle.collision.side', 1],
      ['vehicle.alert', 2],
      ['vehicle.alert', 2],
    ]);
    for (const { data, objects } of values) {
      if (data === 'vehicle.alert')
        await expectAlerts(
          world,
          objects,
          objects.map(({ id }) => String(id)),
        );
      else expect(objects).toEqual([await world.answer(`/collisions/${collision.id}`)]);
    }
  },
);

/** The user line has thefts only in Status, and no queries for these sections of telemetry. */
const fleetOnly = new Set(['vehicle.stolen', 'vehicle.lighting', 'vehicle.drivingBehavior']);

test.each(cases.filter(([, channel]) => channel !== 'pushnotif'))(
  '%s side, %s: extensions in a notification equal the answers of the interface',
  async (side, _name, watch) => {
    const check = async (values: readonly (SlotValue | undefined)[], readings: boolean): Promise<void> => {
      const world = new World(side, values, readings);
      watch(world);
      world.live();
      const last = (await world.told()).at(-1);
      const sections = [undefined, ...Object.keys(telemetrySections)];
      let telemetries = 0;
      for (const { type, body } of last?.extensions ?? []) {
        const section = type === 'vehicle.telemetry' ? sections[telemetries++] : undefined;
        if (type === 'vehicle.telemetry' && !readings) continue;
        if (type === 'vehicle.alerts') await expectAlerts(world, body['alerts'] as Members[], [unchanged.id]);
        else if (side === 'fleet' || !fleetOnly.has(section ?? type)) {
          expect([type, section, body]).toEqual([type, section, await world.extension(type, section)]);
        }
      }
      expect(telemetries).toBe(sections.length);
    };
    await check([], true);
    await check(everything, false);
    await check(everything, true);
    await fc.assert(
      fc.asyncProperty(knowledge, fc.boolean(), ({ values }, readings) => check(values, readings)),
      { numRuns: 25 },
    );
  },
);

test.each(['fleet', 'user'] as const)(
  '%s side: telemetry in a notification has the times of the published models',
  async (side) => {
    const world = new World(side, everything);
    channels[side]['webhook']?.(world);
    world.live();
    const [first] = (await world.told()).flatMap(({ extensions }) =>
      extensions.flatMap(({ body }) => (body['telemetry'] === undefined ? [] : [body['telemetry'] as Json])),
    );
    const telemetry = first as Json;
    const told = telemetry.vehicle as unknown as Record<string, Json>;
    const { _embedded } = (await world.answer('/telemetry')) as Json;
    const answered = _embedded.telemetries[0].vehicle as unknown as Record<string, Json>;
    const stamp = new Date(T).toISOString();
    for (const vehicleOf of [told, answered]) {
      expect(vehicleOf['ignition']?.createdAt).toBe(stamp);
      expect(vehicleOf['wipingBlades']?.createdAt).toBe(side === 'fleet' ? stamp : undefined);
      expect(vehicleOf['doorsState']).not.toHaveProperty('createdAt');
      expect((vehicleOf['adas'] as unknown as Record<string, string>)['aebs']).toBe(side === 'fleet' ? 'Off' : 'off');
    }
    // Stored telemetry has no positions, so only an event contains the position of an alarm.
    const status = (await world.answer('/status')) as Json;
    expect(told['alarm']?.trigger.position).toEqual(status.alarm.trigger.position);
    expect(told['alarm']?.trigger.position.properties.createdAt).toBe(new Date(T - 1_000).toISOString());
  },
);

test.each(['fleet', 'user'] as const)(
  '%s side: command states in a notification equal the answers of the interface',
  async (side) => {
    const world = new World(side, []);
    const { rig } = world;
    const { callbackId } = rig.callbacks.add(
      side,
      side === 'fleet' ? { callback: { webhook }, remoteTypes: ['Doors'] } : { callback: { webhook } },
    );
    const reports: RemoteReport[] = [
      { remoteActionId: 'r-1', type: 'Doors', status: 'SentToVehicle' },
      { remoteActionId: 'r-1', type: 'Doors', status: 'Failed', failureCause: 'VehicleInUse' },
    ];
    rig.callbacks.setOrigin('r-1', { callbackId });
    for (const report of reports) rig.callbacks.remote(report);
    await rig.pass(60_000);
    const told = rig.bodies.flatMap((body) => (side === 'fleet' ? (body as { events: Json[] }).events : [body].flat()));
    const states = told.map(
      (event) => (side === 'fleet' ? event : (event as { remoteEvent: Json }).remoteEvent) as Members,
    );
    expect(states).toHaveLength(2);
    for (const [n, state] of states.entries()) {
      const { status, failureCause } = reports[n] as RemoteReport;
      const action: RemoteAction = {
        remoteActionId: 'r-1',
        callbackId,
        type: 'Doors',
        remote: {},
        status,
        createdAt: T,
        ...defined({ failureCause }),
      };
      world.remotes.actions.splice(0, 1, action);
      const { remoteActionId, remoteType, eventStatus } = state;
      expect(remoteType).toBe('Doors');
      expect({ remoteActionId, ...(eventStatus as object), type: remoteType, remote: {} }).toEqual(
        await world.remote(callbackId),
      );
    }
  },
);

test.each(['fleet', 'user'] as const)(
  '%s side: the extension of an open trip has its current duration and distance',
  async (side) => {
    const world = new World(side, []);
    channels[side]['webhook']?.(world);
    const { stoppedAt: _, stopPosition: __, endEnergies: ___, faults: ____, ...open } = { ...trip, done: false };
    world.record('trip', { ...open, duration: 0, distance: 0.02 });
    world.openTrip = { ...open, duration: 3, distance: 0.2 };
    world.record('collision', collision);
    const [event] = await world.told();
    const told = event?.extensions.find(({ type }) => type === 'vehicle.trip');
    expect(told?.body).toMatchObject({ trip: { id: trip.id, done: false, duration: 3, distance: 0.2 } });
    expect(told?.body).toEqual({ trip: await world.answer(`/trips/${trip.id}`) });
  },
);

/** Published model of each extension. The models require links, which notifications lack. */
const models: Readonly<Record<string, string>> = {
  doorState: 'DoorsState',
  status: 'Status',
  maintenance: 'Maintenance',
  position: 'Position',
  telemetry: 'Telemetry',
  collisions: 'Collision',
  trip: 'Trip',
  stolen: 'Stolen',
  alarm: 'AlarmDetails',
  alert: 'Alert',
};

describe('objects in notifications', () => {
  test.each(['fleet', 'user'] as const)('of the %s side follow the published models', async (side) => {
    const reference = new Reference(side);
    const check = async (values: readonly (SlotValue | undefined)[]): Promise<number> => {
      const world = new World(side, values);
      channels[side]['webhook']?.(world);
      world.live();
      const objects: (readonly [name: string, object: unknown])[] = [];
      for (const event of await world.told()) {
        for (const { data, objects: all } of event.values) {
          for (const one of all) objects.push([data === 'vehicle.alert' ? 'alert' : 'collisions', one]);
        }
        for (const { type, body } of event.extensions) {
          if (type === 'vehicle.stolen' && side === 'user') continue;
          for (const [name, object] of Object.entries(body)) {
            for (const one of [object].flat()) objects.push([name === 'alerts' ? 'alert' : name, one]);
          }
        }
      }
      for (const [name, object] of objects) {
        const validate = reference.validator(models[name] ?? name);
        validate({ ...(object as object), _links: { self: { href: 'x' } } });
        // A notification has no links, neither around an object nor in the theft within Status.
        const faults = (validate.errors ?? []).filter(({ params }) => params['missingProperty'] !== '_links');
        expect([name, faults]).toEqual([name, []]);
      }
      return objects.length;
    };
    expect(await check(everything)).toBeGreaterThan(50);
    await fc.assert(
      fc.asyncProperty(knowledge, async ({ values }) => void (await check(values))),
      { numRuns: 25 },
    );
  });
});
