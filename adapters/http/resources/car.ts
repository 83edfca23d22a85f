/** What the HTTP interface must know of the vehicles it serves; `assembly/` builds it. */

import type { RecordStore } from '../../../agent/ports.ts';
import type { RemoteAction, RemoteOrder } from '../../../agent/remotes/requests.ts';
import type { StatusReader } from '../../../agent/status.ts';
import type { Country } from '../../../protocol/interface/countries.ts';
import type { Callback, CallbackSide, CallbackStatus } from '../../../protocol/schema/callback.ts';
import type { Monitor, MonitorStatus } from '../../../protocol/schema/monitor.ts';
import type { Trip } from '../../../protocol/schema/trip.ts';
import type { Caller } from '../call.ts';

/** Reads records: of the car's own store, or at a hub of what the car has sent. */
export type RecordSource = Pick<RecordStore, 'get' | 'list'>;

/** One vehicle, in the car or at a hub. */
export interface VehicleView {
  readonly vehicle: VehicleDescription;
  readonly capabilities: Capabilities;
  readonly status: Pick<StatusReader, 'contents'>;
  readonly records: RecordSource;
  /** The trip that is going on, as it stands now; its record is how it began. */
  openTrip(): Trip | undefined;
  readonly monitors: MonitorBook;
  readonly callbacks: CallbackBook;
  readonly remotes: RemoteBook;
}

/** Whom an interface serves, beside the vehicles. */
export interface InterfaceOwners {
  /** Fleets that the vehicles are in; for a caller only those exist that it works with. */
  readonly fleets: readonly FleetDescription[];
  user(caller: Caller): UserDescription;
  /** A random UUID, lower case. */
  newId(): string;
}

/** The interface of a car: it serves that car alone. */
export interface CarView extends VehicleView, InterfaceOwners {}

/** The vehicles that an interface serves: in a car that car, at a hub those that it hears. */
export interface ServedVehicles extends InterfaceOwners {
  all(): readonly VehicleView[];
  byId(id: string): VehicleView | undefined;
  byVin(vin: string): VehicleView | undefined;
  /** What a request is about that names no vehicle: in a car that car. */
  readonly unnamed: VehicleView;
}

/** The interface of a car as one of any number of vehicles; nothing is read before it is asked for. */
export function onlyVehicle(car: CarView): ServedVehicles {
  return {
    get fleets() {
      return car.fleets;
    },
    user: (caller) => car.user(caller),
    newId: () => car.newId(),
    all: () => [car],
    byId: (id) => (car.vehicle.id === id ? car : undefined),
    byVin: (vin) => (car.vehicle.vin === vin ? car : undefined),
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
  /** Addresses, at most 12 are told. */
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

export interface UserDescription {
  readonly email?: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

/** What the car can tell and do, from its profile. */
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
  /** What a monitor says about its delivery, before it is given. @throws VigieError `input.malformed`, `input.unknown` */
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
