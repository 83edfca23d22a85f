/** Gives the HTTP interface access to a running car. */
import { createHash, randomUUID } from 'node:crypto';
import type { NamedVehicle } from '../adapters/callbacks/notification.ts';
import type { BenchControls } from '../adapters/http/own-routes.ts';
import type { Capabilities, CarView } from '../adapters/http/resources/car.ts';
import { fleetOfId } from '../adapters/http/resources/owners.ts';
import type { Agent } from '../agent/agent.ts';
import type { RecordStore } from '../agent/ports.ts';
import type { VehicleConfiguration } from '../config/http.ts';
import { dataCapabilitiesOf } from '../protocol/capabilities.ts';
import { defined } from '../protocol/defined.ts';
import type { Country } from '../protocol/interface/countries.ts';
import { MAX_PICTURES, type VehicleFacts } from '../protocol/schema/vehicle.ts';
import type { CarOptions } from './car-options.ts';
import type { InterfaceOptions } from './interface.ts';
import type { Vehicle } from './vehicle.ts';

/** Fleet of a car on a bench, and of a car that has no fleet configured. */
export const LOCAL_FLEET = 'local';

interface NameOptions {
  readonly vin: string;
  readonly vehicle: Vehicle;
  readonly http?: InterfaceOptions['http'] | undefined;
}

interface ViewOptions {
  readonly vin: string;
  readonly vehicle: Vehicle;
  /** True if commands are permitted. */
  readonly commands: boolean;
  readonly http: InterfaceOptions['http'];
}

/** Returns the names of the car in notifications: those of the interface if there is one, otherwise its VIN. */
export function namesOf({ vin, vehicle, http }: NameOptions): NamedVehicle {
  const { id = idOf(vin), motorization = motorizationOf(vehicle) } = http === undefined ? { id: vin } : describe(http);
  const fleets = http === undefined ? [] : fleetsOf(http);
  return {
    vin,
    motorization,
    vid: id,
    fleetId: fleets[0] ?? LOCAL_FLEET,
    fleetOf: (owned) => fleetOfId(owned, fleets),
  };
}

/** Returns the view of the car for the interface. It reads all data on request. */
export function viewOf(options: ViewOptions, agent: Agent, records: RecordStore): CarView {
  const { vin, vehicle, commands, http } = options;
  const { id = idOf(vin), motorization = motorizationOf(vehicle), ...described } = describe(http);
  return {
    get vehicle() {
      return { vin, id, motorization, ...described, ...agent.vehicle?.times };
    },
    capabilities: { ...capabilitiesOf(vehicle), commands },
    status: agent.status,
    records,
    present: (trip) => {
      const open = agent.openTrip;
      return open?.id === trip.id ? open : trip;
    },
    monitors: agent.monitors,
    callbacks: agent.callbacks,
    remotes: agent.requests,
    fleets: fleetsOf(http).map((fleet) => ({ id: fleet })),
    // The car knows its users only from their tokens, which do not contain names.
    user: () => ({}),
    newId: randomUUID,
  };
}

/** Returns the car's description for its messages, without addresses such as `id`, which belong to its interface. */
export function factsOf({
  vehicle,
  commands,
  http,
}: Omit<NameOptions, 'vin'> & { readonly commands: boolean }): VehicleFacts {
  const {
    motorization = motorizationOf(vehicle),
    brand,
    label,
    pictures,
    callCenters,
  } = http === undefined ? {} : describe(http);
  const { data, actions } = capabilitiesOf(vehicle);
  return {
    motorization,
    ...defined({ brand, label, pictures: pictures?.slice(0, MAX_PICTURES) }),
    ...(callCenters === undefined
      ? {}
      : {
          callCenters: Object.entries(callCenters).map(([country, phoneNumber]) => ({
            country: country as Country,
            phoneNumber,
          })),
        }),
    data: [...data],
    actions: [...actions],
    commands,
  };
}

function capabilitiesOf({ profile }: Vehicle): Omit<Capabilities, 'commands'> {
  return {
    data: dataCapabilitiesOf(new Set(profile.sources.map(({ path }) => path))),
    actions: new Set(Object.keys(profile.commands)),
  };
}

function describe(http: ViewOptions['http']): VehicleConfiguration {
  return 'local' in http ? {} : http.vehicle;
}

/** Returns true if commands for this car can be signed and can reach a bus. */
export function takesCommands({
  trust,
  sender,
  requesters,
  actuators = [],
}: Pick<CarOptions, 'trust' | 'sender' | 'requesters' | 'actuators'>): boolean {
  return trust !== undefined && (sender !== undefined || (requesters?.size ?? 0) > 0 || actuators.length > 0);
}

/** Returns the controls that disconnect parts of a bench. */
export function benchOf(http: ViewOptions['http']): BenchControls | undefined {
  return 'local' in http ? http.bench : undefined;
}

/** Returns the configured name of the car, in the default language. */
export function titleOf(http: ViewOptions['http']): string | undefined {
  const { label } = describe(http);
  return typeof label === 'object' ? label['default'] : label;
}

function fleetsOf(http: ViewOptions['http']): readonly string[] {
  if ('local' in http) return [LOCAL_FLEET];
  return [...new Set((http.fleet ?? []).flatMap(({ fleets }) => fleets))];
}

export function idOf(vin: string): string {
  return createHash('sha256').update(vin).digest('hex').slice(0, 16);
}

/** Derives the motorization from the energies that the profile feeds. */
function motorizationOf({ profile }: Vehicle): NamedVehicle['motorization'] {
  const feeds = (energy: string): boolean => profile.sources.some(({ path }) => path.startsWith(`energies.${energy}.`));
  if (profile.constants['energies.Fuel.subType'] === 'Hydrogen') return 'Hydrogen';
  if (!feeds('Electric')) return 'Thermic';
  return feeds('Fuel') ? 'Hybrid' : 'Electric';
}
