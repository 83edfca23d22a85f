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
import { VigieError } from '../../protocol/errors.ts';
import type { StatusContents } from '../../protocol/schema/status.ts';
import { disassemble } from '../../protocol/slots.ts';
import type { FleetRecord, HubKeyset, HubPosition, KnownVehicle, VehicleReader } from '../core/ports.ts';
import type { Owner } from '../core/registry.ts';
import { VehicleStatus } from '../core/vehicle-status.ts';

/** Owners of the served vehicles. If omitted, all vehicles are served. */
export interface ServedTo {
  readonly owners: readonly Owner[];
  readonly fleets: readonly FleetDescription[];
  /** Returns true if the car belongs to one of the owners. */
  includes(vin: string): boolean;
}

/** Reads each vehicle on request, so that messages received by other hubs are included. */
export function servedVehicles(reader: VehicleReader): (to?: ServedTo) => ServedVehicles {
  /** Series cache the positions of their samples as long as the source exists. */
  const sources = new Map<string, RecordSource>();
  const sourceOf = (vin: string): RecordSource => {
    const source = sources.get(vin) ?? sourceIn(reader, vin);
    sources.set(vin, source);
    return source;
  };
  const open = async (vin: string, createdAt: number): Promise<VehicleView> => {
    return vehicleView(vin, createdAt, (await reader.status(vin)) ?? new VehicleStatus(), sourceOf(vin));
  };
  const outlineOf = ({ vin, firstSeen }: Pick<KnownVehicle, 'vin' | 'firstSeen'>): VehicleOutline => {
    return { vehicle: { id: idOf(vin), vin, createdAt: firstSeen }, open: () => open(vin, firstSeen) };
  };
  const byVin = async (vin: string): Promise<VehicleView | undefined> => {
    const known = await reader.vehicle(vin);
    return known && open(vin, known.firstSeen);
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
      const known = await reader.vehicleById(id);
      if (known === undefined || to?.includes(known.vin) === false) return undefined;
      return open(known.vin, known.firstSeen);
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
      capabilities: { paths: new Set(), actions: new Set(), commands: false },
      status: { contents: () => ({}) },
      records: { get: () => undefined, list: () => [] },
      openTrip: () => undefined,
      ...books,
    },
  });
}

/** Maps the entries of a collection. */
function mapped<T extends HubPosition, U extends HubPosition>(keys: HubKeyset<T>, of: (one: T) => U): Keyset<U> {
  return {
    count: (range) => keys.count(range),
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

function vehicleView(vin: string, createdAt: number, status: VehicleStatus, records: RecordSource): VehicleView {
  const contents = status.contents();
  return {
    vehicle: { vin, id: idOf(vin), motorization: motorizationOf(contents), createdAt },
    get capabilities() {
      // The capabilities of a car are in its profile, which it does not send: use the paths of its values.
      const paths = new Set([...disassemble(contents)].map(({ slot }) => slot.path));
      return { paths, actions: new Set<string>(), commands: false };
    },
    status,
    records,
    // The newest message of a trip already contains its present form.
    openTrip: () => undefined,
    ...books,
  };
}

/** Returns the motorization from the energies in Status. */
export function motorizationOf({ energies = [] }: StatusContents): VehicleDescription['motorization'] {
  const has = (type: string): boolean => energies.some((energy) => energy.type === type);
  if (energies.some(({ subType }) => subType === 'Hydrogen')) return 'Hydrogen';
  if (!has('Electric')) return 'Thermic';
  return has('Fuel') ? 'Hybrid' : 'Electric';
}

function refuse(): never {
  throw new VigieError('command.unsupported', 'monitors, callbacks and commands belong to a fleet or a user: name one');
}

/** No monitors: those of fleets and users are added to each request about them (books.ts). */
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
