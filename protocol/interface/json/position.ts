/** Positions: GeoJSON Features with the coordinates longitude, latitude, altitude (RFC 7946 §3.1.1). */
import { defined } from '../../defined.ts';
import type { StatusContents } from '../../schema/status.ts';
import type { Waypoint } from '../../schema/waypoint.ts';
import { dateTime } from './date-time.ts';
import type { Viewer } from './viewer.ts';
import type { Members } from './writer.ts';

export type PositionJson = NonNullable<StatusContents['lastPosition']>;

export interface Feature {
  readonly type: 'Feature';
  readonly geometry: { readonly type: 'Point'; readonly coordinates: readonly number[] };
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Interface 3.19.2 and 4.17.2 Position. Returns undefined if the viewer may not see the position of the car. */
export function positionJson(viewer: Viewer, { geometry, properties }: PositionJson): Feature | undefined {
  if (!viewer.positions) return undefined;
  const { createdAt, ...rest } = properties;
  return feature(viewer, geometry.coordinates, { createdAt: dateTime(createdAt), ...rest });
}

/** Position of a waypoint. */
export function waypointJson(viewer: Viewer, point: Waypoint): Feature {
  const { at, longitude, latitude, altitude, heading, speed, signalQuality, type, fixStatus, gap } = point;
  return feature(viewer, altitude === undefined ? [longitude, latitude] : [longitude, latitude, altitude], {
    createdAt: dateTime(at),
    ...defined({ heading, signalQuality }),
    type,
    ...defined({ fixStatus, speed, gap }),
  });
}

/** Interface 3.19.2 Position, PositionBase: on the fleet side, a position includes the VIN. */
export function feature(
  { side, vehicle }: Viewer,
  coordinates: readonly number[],
  properties: Readonly<Record<string, unknown>>,
): Feature {
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates },
    properties: side === 'fleet' ? { ...properties, vin: vehicle.vin } : properties,
  };
}

/** Replaces the named positions in the JSON of a record by those that the viewer may see, or removes them. */
export function placePositions<T extends object, K extends keyof T & string>(
  viewer: Viewer,
  written: Members,
  record: T,
  names: readonly K[],
): void {
  for (const name of names) {
    const place = record[name] as PositionJson | undefined;
    if (place === undefined) continue;
    const seen = positionJson(viewer, place);
    if (seen === undefined) delete written[name];
    else written[name] = seen;
  }
}
