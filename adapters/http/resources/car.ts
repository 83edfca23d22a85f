/** Vehicles of the HTTP interface; `assembly/` or the hub provides them. */

import type { StatusReader } from '../../../agent/model/status.ts';
import type { StoredRecord } from '../../../agent/ports.ts';
import type { RemoteAction, RemoteOrder } from '../../../agent/remotes/requests.ts';
import type { DataCapability } from '../../../protocol/capabilities.ts';
import type { Country } from '../../../protocol/interface/countries.ts';
import type { RecordFilter } from '../../../protocol/interface/record-filter.ts';
import type { Callback, CallbackSide, CallbackStatus } from '../../../protocol/schema/callback.ts';
import type { SignalRules } from '../../../protocol/schema/monitor/signals.ts';
import type { Monitor, MonitorStatus } from '../../../protocol/schema/monitor.ts';
import type { Trip } from '../../../protocol/schema/trip.ts';
import type { Caller } from '../call.ts';

/** A car has the value in memory; a hub reads it from its database. */
export type Awaitable<T> = T | Promise<T>;

/** Position of a record in its collection: by time (UTC ms), then by id. */
export interface KeyPosition {
  readonly at: number;
  readonly id: string;
}

/** A range of a collection. If a bound is omitted, the range is open on that side. */
export interface KeyRange {
  readonly from?: KeyPosition;
  /** Last position, included. */
  readonly to?: KeyPosition;
  /** End position, excluded; not combined with `to`. */
  readonly before?: KeyPosition;
}

/** Asks for the positions around a page of a range. */
export interface KeysSurveyed {
  readonly range: KeyRange;
  /** Number of last positions. */
  readonly size: number;
  /** Position in the range that separates what comes before the page. If omitted, nothing does. */
  readonly cursor?: KeyPosition;
}

/** All fields are of the same time. */
export interface KeysSurvey {
  readonly total: number;
  readonly first: KeyPosition | undefined;
  /** Last positions, the last one first. */
  readonly last: readonly KeyPosition[];
  /** Number of records before the cursor, and position of the first one at or after it. */
  readonly before: number;
  readonly next: KeyPosition | undefined;
}

/** A collection that is read in parts, along an index. */
export interface Keyset<T extends KeyPosition> {
  survey(asked: KeysSurveyed): Promise<KeysSurvey>;
  /** Returns the position after skipping `skip` records; reads only positions. `backwards`: counts from the end. */
  nth(range: KeyRange, skip: number, backwards?: boolean): Promise<KeyPosition | undefined>;
  /** Returns the first `limit` records, or with `backwards` the last ones, newest first. */
  read(range: KeyRange, limit: number, backwards?: boolean): Promise<readonly T[]>;
}

/** Reads records of one vehicle: from the store of the car, or at a hub from the messages of the car. */
export interface RecordSource {
  get(collection: string, id: string): Awaitable<StoredRecord | undefined>;
  /** Returns records with `from` ≤ at < `to`, ordered by time, then by id. */
  list(collection: string, from?: number, to?: number): Iterable<StoredRecord> | AsyncIterable<StoredRecord>;
  /** Returns the last record of {@link list}. If omitted, callers list the records to find it. */
  last?(collection: string): Awaitable<StoredRecord | undefined>;
  /** Returns the records in parts. If omitted, callers read whole lists. */
  keys?(collection: string, filter: RecordFilter): Keyset<StoredRecord>;
}

/** One vehicle, in the car or at a hub. */
export interface VehicleView {
  readonly vehicle: VehicleDescription;
  readonly capabilities: Capabilities;
  readonly status: Pick<StatusReader, 'contents'>;
  readonly records: RecordSource;
  /** Returns the current form of a trip. The record of an open trip has the form that it had at its start. */
  present(trip: Trip): Trip;
  readonly monitors: MonitorBook;
  readonly callbacks: CallbackBook;
  readonly remotes: RemoteBook;
}

/** Users and fleets of an interface, in addition to the vehicles. */
interface InterfaceOwners {
  /** Fleets of the vehicles; a caller can access only the caller's own fleets. */
  readonly fleets: readonly FleetDescription[];
  user(caller: Caller): UserDescription;
  /** Returns a random UUID in lower case. */
  newId(): string;
}

/** The interface of a car, which serves only that car. */
export interface CarView extends VehicleView, InterfaceOwners {}

/** One of many vehicles, before its Status is read. */
export interface VehicleOutline {
  readonly vehicle: Pick<VehicleDescription, 'id' | 'vin' | 'createdAt'>;
  open(): Awaitable<VehicleView>;
}

/** A record with its vehicle. */
export interface VehicleRecord extends StoredRecord {
  readonly outline: VehicleOutline;
}

/** Vehicles that an interface serves: the car itself, or at a hub the cars that the caller may see. */
export interface ServedVehicles extends InterfaceOwners {
  byId(id: string): Awaitable<VehicleView | undefined>;
  byVin(vin: string): Awaitable<VehicleView | undefined>;
  readonly vehicles: ListedVehicles;
  /** Records of all vehicles. */
  readonly records: ListedRecords;
  /** Returns the record with this id, whichever vehicle it belongs to. */
  record(collection: string, id: string): Awaitable<VehicleRecord | undefined>;
  /** Vehicle used if a request names none: in a car, that car. */
  readonly unnamed: VehicleView;
}

export interface ListedVehicle extends KeyPosition {
  readonly outline: VehicleOutline;
}

/** A car returns all vehicles at once. A hub returns those with this VIN prefix in parts, ordered by VIN. */
export type ListedVehicles = readonly ListedVehicle[] | ((prefix: string) => Keyset<ListedVehicle>);

/** Returns records with `from` ≤ at one at a time, ordered by time, then by id. */
type WholeRecords = (collection: string, from?: number) => AsyncIterable<VehicleRecord>;

/** A car lists records one at a time, a hub in parts. */
export type ListedRecords =
  | { readonly whole: WholeRecords }
  | {
      readonly whole?: undefined;
      keys(collection: string, filter: RecordFilter): Keyset<VehicleRecord>;
      /** The newest record of each vehicle. */
      newest(collection: string): Keyset<VehicleRecord>;
    };

/** Presents one car as an interface of several vehicles. Reads nothing until it is requested. */
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
  /** Called `vid` on the fleet side and `id` on the user side. */
  readonly id: string;
  readonly motorization: 'Electric' | 'Hybrid' | 'Thermic' | 'Hydrogen';
  readonly brand?: string;
  /** Model name: one string, or strings by language (RFC 5646, e.g. `fr` or `pt-BR`) and `default` for all others. */
  readonly label?: string | Readonly<Record<string, string>>;
  /** Addresses of pictures; the interface lists at most 12. */
  readonly pictures?: readonly string[];
  /** Time of creation in UTC ms. */
  readonly createdAt?: number;
  readonly updatedAt?: number;
  /** Telephone numbers of the call centres for stolen cars, by country. */
  readonly callCenters?: Readonly<Partial<Record<Country, string>>>;
}

export interface FleetDescription {
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  /** Time of creation in UTC ms. */
  readonly createdAt?: number;
  readonly updatedAt?: number;
}

interface UserDescription {
  readonly email?: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

/** Data and commands that the car supports, according to its profile. */
export interface Capabilities {
  readonly data: readonly DataCapability[];
  /** Actions of the profile, e.g. `doors.lock`. */
  readonly actions: ReadonlySet<string>;
  /** True if the car accepts remote commands, i.e. if there are keys that may sign them. */
  readonly commands: boolean;
}

/** The monitors of the car (implemented by agent/monitors/desk.ts). */
export interface MonitorBook {
  /** The custom signals that monitors may use. If omitted, monitors can use none. */
  readonly signals?: SignalRules;
  readonly all: readonly Monitor[];
  get(id: string): Monitor | undefined;
  /** Adds or replaces a monitor. @throws VigieError `input.malformed`, `input.unknown` */
  put(id: string, input: unknown, status?: MonitorStatus): Promise<Monitor>;
  setStatus(id: string, status: MonitorStatus): Promise<Monitor>;
  /** Resolves with false if there is no monitor with this id. */
  remove(id: string): Promise<boolean>;
}

/** The callbacks of both sides (implemented by agent/callbacks/callbacks.ts). */
export interface CallbackBook {
  list(side: CallbackSide): readonly Callback[];
  get(id: string): Callback | undefined;
  /** Adds or replaces a callback; resolves when it is on disk. @throws VigieError `input.malformed`, `input.unknown` */
  put(side: CallbackSide, id: string, input: unknown): Callback | Promise<Callback>;
  setStatus(id: string, status: CallbackStatus): Callback | Promise<Callback>;
  /** Removes the callback and, on the user side, its monitors. Returns false if it does not exist. */
  remove(id: string): boolean | Promise<boolean>;
  /** Checks a monitor's delivery settings before submission. @throws VigieError `input.malformed`, `input.unknown` */
  checkMonitor(side: CallbackSide, parameter: unknown): void;
}

/** Commands that arrived by HTTP. */
export interface RemoteBook {
  /** Returns the commands that were sent with this callback. */
  all(callbackId: string): readonly RemoteAction[];
  get(id: string): RemoteAction | undefined;
  /** Signs the command with the key of this interface and passes it to the car; resolves when the car has stored it. */
  submit(order: RemoteOrder): Promise<{ readonly remoteActionId: string }>;
}
