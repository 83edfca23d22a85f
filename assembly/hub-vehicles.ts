/** The vehicles that a hub serves, read from what cars have sent. */
import { randomUUID } from 'node:crypto';
import { RecordReader, type SqliteDatabase, type SqliteMessageStore } from '../adapters/database/index.ts';
import type {
  CallbackBook,
  MonitorBook,
  RemoteBook,
  ServedVehicles,
  VehicleDescription,
  VehicleView,
} from '../adapters/http/resources/car.ts';
import { VigieError } from '../protocol/errors.ts';
import type { StatusContents } from '../protocol/schema/status.ts';
import { disassemble } from '../protocol/slots.ts';
import { idOf, LOCAL_FLEET } from './view.ts';

/** Each vehicle is read when it is asked for; what is remembered of one lasts as long as the hub. */
export function servedVehicles(database: SqliteDatabase, store: SqliteMessageStore): ServedVehicles {
  const views = new Map<string, VehicleView>();
  const vins = new Map<string, string>();
  const viewOf = (vin: string, firstSeen: number): VehicleView => {
    const view = views.get(vin) ?? vehicleView(vin, firstSeen, database, store);
    views.set(vin, view);
    vins.set(view.vehicle.id, vin);
    return view;
  };
  const all = (): readonly VehicleView[] => store.known().map(({ vin, firstSeen }) => viewOf(vin, firstSeen));
  const byVin = (vin: string): VehicleView | undefined => {
    return views.get(vin) ?? all().find(({ vehicle }) => vehicle.vin === vin);
  };
  return {
    fleets: [{ id: LOCAL_FLEET }],
    user: () => ({}),
    newId: randomUUID,
    all,
    byVin,
    byId: (id) => {
      const vin = vins.get(id);
      return vin === undefined ? all().find(({ vehicle }) => vehicle.id === id) : byVin(vin);
    },
    unnamed: {
      vehicle: { id: '', vin: '', motorization: 'Thermic' },
      capabilities: { paths: new Set(), actions: new Set(), commands: false },
      status: { contents: () => ({}) },
      records: { get: () => undefined, list: () => [] },
      openTrip: () => undefined,
      ...books,
    },
  };
}

function vehicleView(vin: string, createdAt: number, database: SqliteDatabase, store: SqliteMessageStore): VehicleView {
  const contents = (objects?: ReadonlySet<number>): StatusContents => store.status(vin)?.contents(objects) ?? {};
  return {
    get vehicle(): VehicleDescription {
      return { vin, id: idOf(vin), motorization: motorizationOf(contents()), createdAt };
    },
    get capabilities() {
      // What a car can do is in its profile, which it does not send.
      const paths = new Set([...disassemble(contents())].map(({ slot }) => slot.path));
      return { paths, actions: new Set<string>(), commands: false };
    },
    status: { contents },
    records: new RecordReader(database, vin),
    // The newest message of a trip has it as it stands.
    openTrip: () => undefined,
    ...books,
  };
}

/** By the energies that it tells of. */
function motorizationOf({ energies = [] }: StatusContents): VehicleDescription['motorization'] {
  const has = (type: string): boolean => energies.some((energy) => energy.type === type);
  if (energies.some(({ subType }) => subType === 'Hydrogen')) return 'Hydrogen';
  if (!has('Electric')) return 'Thermic';
  return has('Fuel') ? 'Hybrid' : 'Electric';
}

function refuse(): never {
  throw new VigieError(
    'command.unsupported',
    'this hub does not take monitors and callbacks yet; it takes commands at /vigie/v1/vehicles/{vin}/remotes',
  );
}

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
