/** All cars of a hub together, for tables and maps, and the values of one car. */

import type { Call, Handler, Handlers } from '../../adapters/http/call.ts';
import { found, unknown } from '../../adapters/http/resources/context.ts';
import { defined } from '../../protocol/defined.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { shownValue } from '../../protocol/interface/json/shown-value.ts';
import type { CarDescription, PushKey } from '../../protocol/interface/own/car-description.ts';
import {
  type Age,
  ageOfSilence,
  type FleetCar,
  type FleetEvent,
  type FleetEvents,
  type FleetPositions,
  type FleetTable,
  type HubOrderKind,
  type HubOrders,
  type HubValues,
  type SortKey,
} from '../../protocol/interface/own/hub-overview.ts';
import { scopeOfPath, seenCar, seesOf } from '../../protocol/interface/visible-members.ts';
import { remoteKinds } from '../../protocol/remote/table.ts';
import { disassemble, slots } from '../../protocol/slots.ts';
import type { VehicleReader } from '../core/ports.ts';

interface OverviewDesk {
  readonly reader: Pick<VehicleReader, 'vehicle' | 'status'>;
  /** Returns the cars that the caller may see. */
  cars(call: Call): Promise<Iterable<FleetCar>>;
  events(call: Call): Promise<readonly FleetEvent[]>;
  /** Number of cars that send messages and are not registered. */
  unregistered(): Promise<number>;
  /** Tiles of the maps of the page. If omitted, the page loads no tiles. */
  readonly tiles?: CarDescription['tiles'] | undefined;
  /** Key for subscriptions of browsers. If omitted, the hub sends no push notifications. */
  readonly pushKey?: string | undefined;
  /** Call while somebody views this car. */
  look(vin: string): void;
}

/** Default number of rows in one page of the table. */
const ROWS = 50;

/**
 * Returns the handlers of the operations `hub.vehicles.list`, `hub.positions.list`, `hub.events.list`,
 * `hub.orders.list`, `hub.car.get`, `hub.values.get` and `hub.pushKey.get`.
 */
export function overviewHandlers(desk: OverviewDesk): Handlers {
  const { pushKey } = desk;
  return {
    'hub.vehicles.list': async (call) => {
      const table = tableOf(seenCars(await desk.cars(call), call), call);
      const unregistered = seesOf(call.caller)('hub:status:read') ? await desk.unregistered() : 0;
      return found({ ...table, ...(unregistered > 0 && { unregistered }) } satisfies FleetTable);
    },
    'hub.positions.list': async (call) => found(positionsOf(seenCars(await desk.cars(call), call), call)),
    'hub.events.list': async (call) => {
      const { now, query } = call;
      const vin = query['vin'] as string | undefined;
      const events = (await desk.events(call)).filter((one) => vin === undefined || one.vin === vin);
      const answer: FleetEvents = { at: now, events };
      return found(answer);
    },
    'hub.orders.list': () => found({ kinds: orders } satisfies HubOrders),
    'hub.car.get': car(desk),
    'hub.values.get': values(desk),
    'hub.pushKey.get': () => found((pushKey === undefined ? {} : { publicKey: pushKey }) satisfies PushKey),
  };
}

/** Removes hidden fields before sorting, so that they do not affect the order. */
function* seenCars(cars: Iterable<FleetCar>, { caller }: Call): Iterable<FleetCar> {
  const sees = seesOf(caller);
  for (const car of cars) yield caller.scopes === undefined ? car : seenCar(sees, car);
}

function tableOf(cars: Iterable<FleetCar>, { query, now }: Call): FleetTable {
  const search = String(query['search'] ?? '').toUpperCase();
  const age = query['age'] as Age | undefined;
  const sort = String(query['sort'] ?? '-missing');
  const first = (query['first'] as number | undefined) ?? 0;
  const rows = (query['pageSize'] as number | undefined) ?? ROWS;
  const counts: Record<Age, number> = { minute: 0, hour: 0, day: 0, older: 0 };
  let [total, missing] = [0, 0];
  const matching: FleetCar[] = [];
  for (const one of cars) {
    const silence = ageOfSilence(now - one.heard);
    counts[silence]++;
    total++;
    missing += one.missing;
    if (one.vin.includes(search) && (age === undefined || age === silence)) matching.push(one);
  }
  matching.sort(orderOf(sort.replace('-', '') as SortKey, sort.startsWith('-')));
  return {
    at: now,
    total,
    missing,
    ages: counts,
    matching: matching.length,
    vehicles: matching.slice(first, first + rows),
  };
}

/** Returns a comparison. Cars without a value are last in either direction; equal cars are sorted by VIN. */
function orderOf(key: SortKey, descending: boolean): (a: FleetCar, b: FleetCar) => number {
  const sign = descending ? -1 : 1;
  const byVin = (a: FleetCar, b: FleetCar): number => (a.vin < b.vin ? -1 : a.vin > b.vin ? 1 : 0);
  if (key === 'vin') return (a, b) => sign * byVin(a, b);
  return (a, b) => {
    const [one, other] = [a[key], b[key]];
    if (one === undefined || other === undefined) {
      return (one === undefined ? 1 : 0) - (other === undefined ? 1 : 0) || byVin(a, b);
    }
    return sign * (one - other) || byVin(a, b);
  };
}

function positionsOf(cars: Iterable<FleetCar>, { query, now }: Call): FleetPositions {
  const since = (query['since'] as number | undefined) ?? 0;
  const positions: FleetPositions['positions'][number][] = [];
  for (const { vin, latitude, longitude, heard } of cars) {
    if (latitude === undefined || longitude === undefined || heard < since) continue;
    positions.push([vin, latitude, longitude, heard]);
  }
  return { at: now, positions };
}

/** Commands that one word determines. A destination needs a position and is therefore not included. */
const orders = remoteKinds.flatMap(({ type, member, words, example }): HubOrderKind[] => {
  const named = Object.entries(words.bodies);
  // If the verb alone means everything, the interface still requires the fields of the example.
  const all = named.length === 0 && words.alone !== undefined ? [[words.verb, example.body] as const] : named;
  if (all.length === 0) return [];
  return [{ type, orders: all.map(([name, body]) => ({ name, body: { [member]: body } })) }];
});

/** Like `/vigie/v1/car` of the car, without sources of values: they are in the profile, which cars do not send. */
function car({ reader, tiles }: OverviewDesk): Handler {
  return async (call) => {
    const { vin } = await known(reader, call);
    const answer: CarDescription = {
      vin,
      title: vin,
      profile: '',
      captures: true,
      faults: true,
      ...defined({ tiles }),
      values: slots.map(({ path, kind, unit, resolution }) => ({
        path,
        kind,
        ...defined({ unit, resolution }),
        sources: [],
      })),
    };
    return found(answer);
  };
}

function values(desk: OverviewDesk): Handler {
  return async (call) => {
    const { vin, lastSeen } = await known(desk.reader, call);
    const status = await desk.reader.status(vin);
    desk.look(vin);
    const stale = new Set(status?.stale);
    const sees = seesOf(call.caller);
    const shown = [...disassemble(status?.contents() ?? {})].filter(({ slot }) => sees(scopeOfPath(slot.path)));
    const answer: HubValues = {
      at: call.now,
      heard: lastSeen,
      values: shown.map(({ slot, value, at }) => ({
        path: slot.path,
        value: shownValue(slot, value),
        at: dateTime(at),
        stale: stale.has(slot.id),
      })),
    };
    return found(answer);
  };
}

async function known(reader: OverviewDesk['reader'], { path }: Call): Promise<{ vin: string; lastSeen: number }> {
  const vin = path['vin'] ?? '';
  const vehicle = await reader.vehicle(vin);
  if (vehicle === undefined) throw unknown('vehicle', vin);
  return vehicle;
}
