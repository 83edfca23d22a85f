/** Vehicles of the HTTP interface, as `assembly/` or the hub provides them. */

import type { StatusReader } from '../../../agent/model/status.ts';
import type { StoredRecord } from '../../../agent/ports.ts';
import type { RemoteAction, RemoteOrder } from '../../../agent/remotes/requests.ts';
import type { Country } from '../../../protocol/interface/countries.ts';
import type { RecordFilter } from '../../../protocol/interface/record-filter.ts';
import type { Callback, CallbackSide, CallbackStatus } from '../../../protocol/schema/callback.ts';
import type { SignalRules } from '../../../protocol/schema/monitor/signals.ts';
import type { Monitor, MonitorStatus } from '../../../protocol/schema/monitor.ts';
import type { Trip } from '../../../protocol/schema/trip.ts';
import type { Caller } from '../call.ts';

/** A car has the value in memory; a hub reads it from its database. */
export type Awaitable<T> = T | Promise<T>;

/** Where a record stands in its collection: by time (UTC ms), then by id. */
export interface KeyPosition {
  readonly at: number;
  readonly id: string;
}

/** A part of a collection; absent bounds do not bound. */
export interface KeyRange {
  readonly from?: KeyPosition;
  /** Belongs to it. */
  readonly to?: KeyPosition;
  /** Does not belong to it; not with `to`. */
  readonly before?: KeyPosition;
}

/** A collection that is read part by part, along an index. */
export interface Keyset<T extends KeyPosition> {
  count(range: KeyRange): Promise<number>;
  /** The place after leaving out `skip` records; nothing but places is read. `backwards`: counted from the end. */
  nth(range: KeyRange, skip: number, backwards?: boolean): Promise<KeyPosition | undefined>;
  /** The first `limit` records; `backwards`: the last, the last of all first. */
  read(range: KeyRange, limit: number, backwards?: boolean): Promise<readonly T[]>;
}

/** Reads records of one vehicle: from the store of the car, or at a hub from the messages of the car. */
export interface RecordSource {
  get(collection: string, id: string): Awaitable<StoredRecord | undefined>;
  /** Records with `from` ≤ at < `to`, ascending by time, then by id. */
  list(collection: string, from?: number, to?: number): Iterable<StoredRecord> | AsyncIterable<StoredRecord>;
  /** The last of {@link list}; absent: list them to find it. */
  last?(collection: string): Awaitable<StoredRecord | undefined>;
  /** Records, part by part; absent: lists are read whole. */
  keys?(collection: string, filter: RecordFilter): Keyset<StoredRecord>;
}

/** One vehicle, in the car or at a hub. */
export interface VehicleView {
  readonly vehicle: VehicleDescription;
  readonly capabilities: Capabilities;
  readonly status: Pick<StatusReader, 'contents'>;
  readonly records: RecordSource;
  /** The open trip in its present form. Its record has the form of its start. */
  openTrip(): Trip | undefined;
  readonly monitors: MonitorBook;
  readonly callbacks: CallbackBook;
  readonly remotes: RemoteBook;
}

/** Users and fleets of an interface, in addition to the vehicles. */
interface InterfaceOwners {
  /** Fleets that the vehicles are in; for a caller only those exist that it works with. */
  readonly fleets: readonly FleetDescription[];
  user(caller: Caller): UserDescription;
  /** A random UUID, lower case. */
  newId(): string;
}

/** The interface of a car: it serves that car alone. */
export interface CarView extends VehicleView, InterfaceOwners {}

/** One of many vehicles, before its Status is read. */
export interface VehicleOutline {
  readonly vehicle: Pick<VehicleDescription, 'id' | 'vin' | 'createdAt'>;
  open(): Awaitable<VehicleView>;
}

/** A record, and the vehicle that it is of. */
export interface VehicleRecord extends StoredRecord {
  readonly outline: VehicleOutline;
}

/** Vehicles of an interface: the car itself, or at a hub the cars that the caller may see. */
export interface ServedVehicles extends InterfaceOwners {
  byId(id: string): Awaitable<VehicleView | undefined>;
  byVin(vin: string): Awaitable<VehicleView | undefined>;
  readonly vehicles: ListedVehicles;
  /** Records of all vehicles. */
  readonly records: ListedRecords;
  /** The record with this id, of whatever vehicle. */
  record(collection: string, id: string): Awaitable<VehicleRecord | undefined>;
  /** Vehicle for a request that names none: in a car, that car. */
  readonly unnamed: VehicleView;
}

export interface ListedVehicle extends KeyPosition {
  readonly outline: VehicleOutline;
}

/** A car returns all at once. A hub returns parts, by VIN, of those with this prefix. */
export type ListedVehicles = readonly ListedVehicle[] | ((prefix: string) => Keyset<ListedVehicle>);

/** Those with `from` ≤ at one by one, ascending by time, then by id. */
type WholeRecords = (collection: string, from?: number) => AsyncIterable<VehicleRecord>;

/** In a car one by one; at a hub part by part. */
export type ListedRecords =
  | { readonly whole: WholeRecords }
  | {
      readonly whole?: undefined;
      keys(collection: string, filter: RecordFilter): Keyset<VehicleRecord>;
      /** The newest record of each vehicle. */
      newest(collection: string): Keyset<VehicleRecord>;
    };

/** The interface of a car as one of any number of vehicles. Nothing is read before it is requested. */
export function onlyVehicle(car: CarView): ServedVehicles {
  const outline: VehicleOutline = {
    get vehicle() {
      return car.vehicle;
    },
    open: () => car,
  };
  return {
    get fleets() {
      return car.fleets;
    },
    user: (caller) => car.user(caller),
    newId: () => car.newId(),
    get vehicles() {
      const { id, createdAt = 0 } = car.vehicle;
      return [{ at: createdAt, id, outline }];
    },
    byId: (id) => (car.vehicle.id === id ? car : undefined),
    byVin: (vin) => (car.vehicle.vin === vin ? car : undefined),
    records: {
      async *whole(collection, from) {
        for await (const record of car.records.list(collection, from)) yield { ...record, outline };
      },
    },
    record: async (collection, id) => {
      const record = await car.records.get(collection, id);
      return record && { ...record, outline };
    },
    unnamed: car,
  };
}

/** The vehicle, from the configuration of the car. */
export interface VehicleDescription {
  readonly vin: string;
  /** `vid` of the fleet line, `id` of the user line. */
  readonly id: string;
  readonly motorization: 'Electric' | 'Hybrid' | 'Thermic' | 'Hydrogen';
  readonly brand?: string;
  /** Name of the model: one for all, or by language (RFC 5646, e.g. `fr` or `pt-BR`) with `default` for the rest. */
  readonly label?: string | Readonly<Record<string, string>>;
  /** Addresses; the interface lists at most 12. */
  readonly pictures?: readonly string[];
  /** UTC ms */
  readonly createdAt?: number;
  readonly updatedAt?: number;
  /** Telephone number of the call centre for stolen cars by country. */
  readonly callCenters?: Readonly<Partial<Record<Country, string>>>;
}

export interface FleetDescription {
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  /** UTC ms */
  readonly createdAt?: number;
  readonly updatedAt?: number;
}

interface UserDescription {
  readonly email?: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

/** Values and commands of the car, from its profile. */
export interface Capabilities {
  /** Paths of Status and of channels (protocol/channels.ts) that the profile feeds. */
  readonly paths: ReadonlySet<string>;
  /** Actions of the profile, e.g. `doors.lock`. */
  readonly actions: ReadonlySet<string>;
  /** Remote commands are accepted at all: there are keys that may give them. */
  readonly commands: boolean;
}

/** The monitors of the car (agent/monitors/desk.ts is one). */
export interface MonitorBook {
  /** The custom signals that monitors may name; absent: none. */
  readonly signals?: SignalRules;
  readonly all: readonly Monitor[];
  get(id: string): Monitor | undefined;
  /** Takes or replaces. @throws VigieError `input.malformed`, `input.unknown` */
  put(id: string, input: unknown, status?: MonitorStatus): Promise<Monitor>;
  setStatus(id: string, status: MonitorStatus): Promise<Monitor>;
  /** False: there was none. */
  remove(id: string): Promise<boolean>;
}

/** The callbacks of both sides (agent/callbacks/callbacks.ts is one). */
export interface CallbackBook {
  list(side: CallbackSide): readonly Callback[];
  get(id: string): Callback | undefined;
  /** Takes or replaces; done when it is on disk. @throws VigieError `input.malformed`, `input.unknown` */
  put(side: CallbackSide, id: string, input: unknown): Callback | Promise<Callback>;
  setStatus(id: string, status: CallbackStatus): Callback | Promise<Callback>;
  /** Removes it with the monitors of the user line that belong to it. False: there was none. */
  remove(id: string): boolean | Promise<boolean>;
  /** Delivery settings of a monitor, before it is submitted. @throws VigieError `input.malformed`, `input.unknown` */
  checkMonitor(side: CallbackSide, parameter: unknown): void;
}

/** Commands that came by HTTP. */
export interface RemoteBook {
  /** Those sent with a callback. */
  all(callbackId: string): readonly RemoteAction[];
  get(id: string): RemoteAction | undefined;
  /** Signs the command with the key of this interface and hands it to the car; done when the car has written it down. */
  submit(order: RemoteOrder): Promise<{ readonly remoteActionId: string }>;
}
