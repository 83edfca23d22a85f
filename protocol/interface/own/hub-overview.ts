/** Overview of all cars of a hub under `/vigie/v1`, for its page. */
import { DAY } from '../../calendar.ts';
import type { Kind } from '../../schema/kind.ts';

/** Age of a car's last message: within a minute, an hour, a day, or older. */
export const ages = ['minute', 'hour', 'day', 'older'] as const;
export type Age = (typeof ages)[number];

/** Longest silence in ms for each age. */
const SILENCES: readonly (readonly [age: Age, silence: number])[] = [
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', DAY],
];

/** @param silence time in ms since the last message */
export function ageOfSilence(silence: number): Age {
  return SILENCES.find(([, longest]) => silence < longest)?.[0] ?? 'older';
}

/** Fields of a car by which the table can be sorted. */
export const sortKeys = ['vin', 'heard', 'speed', 'electric', 'fuel', 'mileage', 'missing'] as const;
export type SortKey = (typeof sortKeys)[number];

/** A car in the table. Fields that the car has not sent are absent. */
export interface FleetCar {
  readonly vin: string;
  /** Time at which the hub received the car's newest message, UTC ms. */
  readonly heard: number;
  /** Number of messages that did not arrive and that the car has not given up. */
  readonly missing: number;
  /** Speed in km/h; negative in reverse. */
  readonly speed?: number;
  /** Range gained per hour in km/h. Present while the car charges. */
  readonly charging?: number;
  /** State of charge in %. */
  readonly electric?: number;
  /** Fuel level in %. */
  readonly fuel?: number;
  /** Odometer in km. */
  readonly mileage?: number;
  /** Position in degrees. */
  readonly latitude?: number;
  readonly longitude?: number;
}

/** `GET /vigie/v1/vehicles` */
export interface FleetTable {
  /** Clock of the hub, UTC ms. */
  readonly at: number;
  /** Number of cars, number of their missing messages, and number of cars by age. */
  readonly total: number;
  readonly missing: number;
  readonly ages: Readonly<Record<Age, number>>;
  /** Number of unregistered cars that send messages. Only with the scope `hub:status:read`, and if there are any. */
  readonly unregistered?: number;
  /** Number of cars that match the search; `vehicles` contains some of them. */
  readonly matching: number;
  readonly vehicles: readonly FleetCar[];
}

/** `GET /vigie/v1/positions`: cars with messages since the requested time. */
export interface FleetPositions {
  readonly at: number;
  readonly positions: readonly (readonly [vin: string, latitude: number, longitude: number, heard: number])[];
}

/** A message of a car with its body. */
export interface FleetEvent {
  /** Ascending in the order of arrival. */
  readonly id: number;
  readonly vin: string;
  readonly kind: Kind;
  /** Times at which the car sent it and the hub received it, UTC ms. */
  readonly at: number;
  readonly received: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** `GET /vigie/v1/events`: newest first. */
export interface FleetEvents {
  readonly at: number;
  readonly events: readonly FleetEvent[];
}

/** A value of Status as stored by the hub. */
export interface HubValue {
  readonly path: string;
  readonly value: unknown;
  /** Time of its last change, ISO 8601. */
  readonly at: string;
  readonly stale: boolean;
}

/** `GET /vigie/v1/vehicles/{vin}/values` */
export interface HubValues {
  readonly at: number;
  readonly heard: number;
  readonly values: readonly HubValue[];
}

/** `GET /vigie/v1/orders`: single-word commands, with the body to send to `/vigie/v1/vehicles/{vin}/remotes`. */
export interface HubOrders {
  readonly kinds: readonly HubOrderKind[];
}

export interface HubOrderKind {
  readonly type: string;
  readonly orders: readonly { readonly name: string; readonly body: Readonly<Record<string, object>> }[];
}
