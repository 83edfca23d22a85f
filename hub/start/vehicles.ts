/** Vehicles that a hub serves, read from the messages of cars. */
import { randomUUID } from 'node:crypto';
import type {
  CallbackBook,
  FleetDescription,
  Keyset,
  ListedVehicle,
  MonitorBook,
  RecordSource,
  RemoteBook,
  ServedVehicles,
  VehicleDescription,
  VehicleOutline,
  VehicleRecord,
  VehicleView,
} from '../../adapters/http/resources/car.ts';
import { idOf, LOCAL_FLEET } from '../../assembly/view.ts';
import { type DataCapability, dataCapabilitiesOf } from '../../protocol/capabilities.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { StatusContents } from '../../protocol/schema/status.ts';
import { presentTrip } from '../../protocol/schema/trip.ts';
import { disassemble } from '../../protocol/slots.ts';
import type {
  FleetRecord,
  HubKeyset,
  HubPosition,
  KnownVehicle,
  VehicleReader,
  VehicleWithStatus,
} from '../core/ports.ts';
import type { Owner } from '../core/registry.ts';
import { VehicleStatus } from '../core/vehicle-status.ts';

/** Owners of the served vehicles. If omitted, all vehicles are served. */
export interface ServedTo {
  readonly owners: readonly Owner[];
  readonly fleets: readonly FleetDescription[];
  /** Returns true if the car belongs to one of the owners. */
  includes(vin: string): boolean;
}

/** Description of every car that sends no description itself. */
export type VehicleDefaults = Pick<VehicleDescription, 'brand' | 'label' | 'pictures' | 'callCenters'>;

interface ViewParts {
  readonly vin: string;
  readonly firstSeen: number;
  readonly status: VehicleStatus;
  readonly records: RecordSource;
  readonly defaults: VehicleDefaults;
}

/** Reads each vehicle on request, so that messages received by other hubs are included. */
export function servedVehicles(
  reader: VehicleReader,
  defaults: VehicleDefaults = {},
): (to?: ServedTo) => ServedVehicles {
  /** Sources by VIN. A series keeps the positions of its samples in memory as long as its source exists. */
  const sources = new Map<string, RecordSource>();
  const sourceOf = (vin: string): RecordSource => {
    const source = sources.get(vin) ?? sourceIn(reader, vin);
    sources.set(vin, source);
    return source;
  };
  const viewOf = ({ vin, firstSeen, status }: VehicleWithStatus): VehicleView =>
    vehicleView({ vin, firstSeen, status, records: sourceOf(vin), defaults });
  const outlineOf = ({ vin, firstSeen }: KnownVehicle): VehicleOutline => ({
    vehicle: { id: idOf(vin), vin, createdAt: firstSeen },
    // A car that was forgotten meanwhile has no Status.
    open: async () =>
      (await byVin(vin)) ?? viewOf({ vin, firstSeen, lastSeen: firstSeen, status: new VehicleStatus() }),
  });
  const byVin = async (vin: string): Promise<VehicleView | undefined> => {
    const known = await reader.view(vin);
    return known && viewOf(known);
  };
  const listed = (prefix: string, owners: readonly Owner[] | undefined): Keyset<ListedVehicle> => {
    return mapped(reader.vehicleKeys(prefix, owners), ({ at, id, vehicle }) => ({
      at,
      id,
      outline: outlineOf(vehicle),
    }));
  };
  const ofFleet = ({ vin, ...record }: FleetRecord): VehicleRecord => ({
    ...record,
    outline: {
      vehicle: { id: idOf(vin), vin },
      open: async () => (await byVin(vin)) as VehicleView,
    },
  });
  const recordsOf = (keys: HubKeyset<FleetRecord>): Keyset<VehicleRecord> => mapped(keys, ofFleet);
  return (to) => ({
    fleets: to?.fleets ?? [{ id: LOCAL_FLEET }],
    user: () => ({}),
    newId: randomUUID,
    vehicles: (prefix) => listed(prefix, to?.owners),
    byVin: async (vin) => (to?.includes(vin) === false ? undefined : byVin(vin)),
    byId: async (id) => {
      const known = await reader.viewById(id);
      return known === undefined || to?.includes(known.vin) === false ? undefined : viewOf(known);
    },
    records: {
      keys: (collection, filter) => recordsOf(reader.fleetRecordKeys(collection, { owners: to?.owners, filter })),
      newest: (collection) => recordsOf(reader.fleetRecordKeys(collection, { owners: to?.owners, newest: true })),
    },
    record: async (collection, id) => {
      const record = await reader.fleetRecord(collection, id, to?.owners);
      return record && ofFleet(record);
    },
    unnamed: {
      vehicle: { id: '', vin: '', motorization: 'Thermic' },
      capabilities: { data: [], actions: new Set(), commands: false },
      status: { contents: () => ({}) },
      records: { get: () => undefined, list: () => [] },
      present: (trip) => trip,
      ...books,
    },
  });
}

/** Maps the entries of a collection. */
function mapped<T extends HubPosition, U extends HubPosition>(keys: HubKeyset<T>, of: (one: T) => U): Keyset<U> {
  return {
    survey: (asked) => keys.survey(asked),
    nth: (range, skip, backwards) => keys.nth(range, skip, backwards),
    read: async (range, limit, backwards) => (await keys.read(range, limit, backwards)).map(of),
  };
}

function sourceIn(reader: VehicleReader, vin: string): RecordSource {
  return {
    get: (collection, id) => reader.record(vin, collection, id),
    list: (collection, from, to) => reader.records(vin, collection, from, to),
    last: (collection) => reader.lastRecord(vin, collection),
    keys: (collection, filter) => reader.recordKeys(vin, collection, filter),
  };
}

/** Returns the view of a car from what it has sent. `firstSeen`: time of its first message in UTC ms of the hub. */
function vehicleView(parts: ViewParts): VehicleView {
  const { vin, firstSeen, status, records, defaults } = parts;
  const contents = status.contents();
  const { createdAt = firstSeen, updatedAt, motorization, brand, label, pictures, callCenters } = status.vehicle ?? {};
  const centers = callCenters?.map(({ country, phoneNumber }) => [country, phoneNumber] as const);
  return {
    vehicle: {
      ...defaults,
      vin,
      id: idOf(vin),
      motorization: motorization ?? motorizationOf(contents),
      createdAt,
      ...defined({ updatedAt, brand, label, pictures }),
      ...(centers === undefined ? {} : { callCenters: Object.fromEntries(centers) }),
    },
    get capabilities() {
      const { data, actions = [], commands = false } = status.vehicle ?? {};
      return { data: data ?? dataIn(contents), actions: new Set(actions), commands };
    },
    status,
    records,
    present: (trip) => presentTrip(trip, status.openTrip),
    ...books,
  };
}

/** Returns the data that a car without a description can report, derived from its values. */
function dataIn(contents: StatusContents): readonly DataCapability[] {
  return dataCapabilitiesOf(new Set([...disassemble(contents)].map(({ slot }) => slot.path)));
}

/** Returns the motorization that the car has sent or, if it has sent none, that the energies in Status show. */
export function motorizationIn(status: VehicleStatus | undefined): VehicleDescription['motorization'] {
  return status?.vehicle?.motorization ?? motorizationOf(status?.contents() ?? {});
}

function motorizationOf({ energies = [] }: StatusContents): VehicleDescription['motorization'] {
  const has = (type: string): boolean => energies.some((energy) => energy.type === type);
  if (energies.some(({ subType }) => subType === 'Hydrogen')) return 'Hydrogen';
  if (!has('Electric')) return 'Thermic';
  return has('Fuel') ? 'Hybrid' : 'Electric';
}

function refuse(): never {
  throw new VigieError('command.unsupported', 'monitors, callbacks and commands belong to a fleet or a user: name one');
}

/** No monitors: those of fleets and users are added only to requests about monitors (books.ts). */
const monitors: MonitorBook = {
  all: [],
  get: () => undefined,
  put: async () => refuse(),
  setStatus: async () => refuse(),
  remove: async () => false,
};
const callbacks: CallbackBook = {
  list: () => [],
  get: () => undefined,
  put: refuse,
  setStatus: refuse,
  remove: () => false,
  checkMonitor: refuse,
};
const remotes: RemoteBook = { all: () => [], get: () => undefined, submit: async () => refuse() };
const books = { monitors, callbacks, remotes };
