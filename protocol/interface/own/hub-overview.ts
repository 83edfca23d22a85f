/** Overview of all cars of a hub under `/vigie/v1`, for its page. */
import { DAY } from '../../calendar.ts';
import type { Kind } from '../../schema/kind.ts';

/** Age of the last message of a car: within a minute, an hour, a day, or older. */
export const ages = ['minute', 'hour', 'day', 'older'] as const;
export type Age = (typeof ages)[number];

/** Longest silence of each age, ms. */
const SILENCES: readonly (readonly [age: Age, silence: number])[] = [
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', DAY],
];

/** @param silence since the last message, ms */
export function ageOfSilence(silence: number): Age {
  return SILENCES.find(([, longest]) => silence < longest)?.[0] ?? 'older';
}

/** Members of a car that the table sorts by. */
export const sortKeys = ['vin', 'heard', 'speed', 'electric', 'fuel', 'mileage', 'missing'] as const;
export type SortKey = (typeof sortKeys)[number];

/** A car in the table. A member that the car has not sent is absent. */
export interface FleetCar {
  readonly vin: string;
  /** When the hub received its newest message, UTC ms. */
  readonly heard: number;
  /** Message numbers that did not arrive and that the car has not given up. */
  readonly missing: number;
  /** km/h; negative backwards. */
  readonly speed?: number;
  /** It charges: range gained per hour, km/h. */
  readonly charging?: number;
  /** State of charge, %. */
  readonly electric?: number;
  /** Level of the tank, %. */
  readonly fuel?: number;
  /** km */
  readonly mileage?: number;
  /** Degrees. */
  readonly latitude?: number;
  readonly longitude?: number;
}

/** `GET /vigie/v1/vehicles` */
export interface FleetTable {
  /** UTC ms of the hub. */
  readonly at: number;
  /** All cars, their missing numbers, and how many cars have which age. */
  readonly total: number;
  readonly missing: number;
  readonly ages: Readonly<Record<Age, number>>;
  /** Cars that the search finds, of which `vehicles` are some. */
  readonly matching: number;
  readonly vehicles: readonly FleetCar[];
}

/** `GET /vigie/v1/positions`: cars with messages since the requested time. */
export interface FleetPositions {
  readonly at: number;
  readonly positions: readonly (readonly [vin: string, latitude: number, longitude: number, heard: number])[];
}

/** Message of a car with its body. */
export interface FleetEvent {
  /** Ascending as messages arrive. */
  readonly id: number;
  readonly vin: string;
  readonly kind: Kind;
  /** UTC ms: by the car, and when the hub received it. */
  readonly at: number;
  readonly received: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** `GET /vigie/v1/events`: the newest first. */
export interface FleetEvents {
  readonly at: number;
  readonly events: readonly FleetEvent[];
}

/** A value of Status as the hub has it. */
export interface HubValue {
  readonly path: string;
  readonly value: unknown;
  /** When it became so, ISO 8601. */
  readonly at: string;
  readonly stale: boolean;
}

/** `GET /vigie/v1/vehicles/{vin}/values` */
export interface HubValues {
  readonly at: number;
  readonly heard: number;
  readonly values: readonly HubValue[];
}

/** `GET /vigie/v1/orders`: commands in one word, with what to send to `/vigie/v1/vehicles/{vin}/remotes` for them. */
export interface HubOrders {
  readonly kinds: readonly HubOrderKind[];
}

export interface HubOrderKind {
  readonly type: string;
  readonly orders: readonly { readonly name: string; readonly body: Readonly<Record<string, object>> }[];
}
