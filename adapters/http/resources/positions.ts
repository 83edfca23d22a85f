/** Positions: GeoJSON Features whose coordinates are longitude, latitude, altitude (RFC 7946 §3.1.1). */
import { type Position, presentPosition } from '../../../agent/position.ts';
import type { Waypoint } from '../../../protocol/schema/waypoint.ts';
import type { Answer } from '../call.ts';
import { type Context, found, unknown } from './context.ts';
import { dateTime } from './times.ts';

/** As the caller's line has it: the fleet line names the car. Undefined when the caller may not see where it is. */
export function position(context: Context, { geometry, properties }: Position): Feature | undefined {
  if (!context.sees('data:position')) return undefined;
  const { createdAt, ...rest } = properties;
  return feature(context, geometry.coordinates, { createdAt: dateTime(createdAt), ...rest });
}

export interface Feature {
  readonly type: 'Feature';
  readonly geometry: { readonly type: 'Point'; readonly coordinates: readonly number[] };
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The place of a waypoint. */
export function placeOf(context: Context, point: Waypoint): Feature {
  const { at, longitude, latitude, altitude, heading, signalQuality, type, fixStatus } = point;
  return feature(context, altitude === undefined ? [longitude, latitude] : [longitude, latitude, altitude], {
    createdAt: dateTime(at),
    ...(heading === undefined ? {} : { heading }),
    ...(signalQuality === undefined ? {} : { signalQuality }),
    type,
    ...(fixStatus === undefined ? {} : { fixStatus }),
  });
}

/** Interface 3.19.2 Position, PositionBase. */
export function feature(
  { side, car }: Context,
  coordinates: readonly number[],
  properties: Readonly<Record<string, unknown>>,
): Feature {
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates },
    properties: side === 'fleet' ? { ...properties, vin: car.vehicle.vin } : properties,
  };
}

/** Puts the named positions of a record that is being written into the form of the caller's line, or leaves them out. */
export function withPositions<T extends object, K extends keyof T & string>(
  context: Context,
  written: Record<string, unknown>,
  record: T,
  names: readonly K[],
): void {
  for (const name of names) {
    const place = record[name] as Position | undefined;
    if (place === undefined) continue;
    const seen = position(context, place);
    if (seen === undefined) delete written[name];
    else written[name] = seen;
  }
}

/** `GET …/lastPosition` */
export function lastPosition(context: Context): Answer {
  const place = presentPosition(context.car.status);
  const seen = place && position(context, place);
  if (seen === undefined) throw unknown('known position of vehicle', context.car.vehicle.id);
  return found(seen);
}

/** Whether {@link lastPosition} answers. */
export function hasPosition(context: Context): boolean {
  return context.sees('data:position') && presentPosition(context.car.status) !== undefined;
}
