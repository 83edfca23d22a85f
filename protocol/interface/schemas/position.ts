import { positionSchema } from '../../schema/status/position.ts';
import { waypointSchema } from '../../schema/waypoint.ts';
import type { Side } from '../operation.ts';
import { type DeriveOptions, derived } from './derive.ts';
import { collection } from './hal.ts';
import { extended, type JsonSchema, without } from './json.ts';

/** A GeoJSON Feature. Only the fleet side includes the vehicle. */
export function position(side: Side, options: DeriveOptions = {}): JsonSchema {
  const schema = derived(positionSchema, options);
  return side === 'fleet' ? schema : withoutVin(schema);
}

function withoutVin(schema: JsonSchema): JsonSchema {
  const { properties = {}, ...rest } = schema;
  const { properties: inner = {}, ...others } = properties;
  return { ...rest, properties: { ...others, properties: without(inner, 'vin') } };
}

/** Points of a route, in order. As an addition, each contains the speed. */
export function wayPoints(side: Side): JsonSchema {
  const { properties = {}, ...feature } = position(side);
  const { properties: inner = {}, ...others } = properties;
  const { speed = {}, gap = {} } = derived(waypointSchema).properties ?? {};
  const point = {
    ...feature,
    title: 'WayPoint',
    properties: { ...others, properties: extended(inner, 'WayPointProperties', { speed, gap }) },
  };
  return collection('WayPoints', 'positions', point, 'A path of positions. Interface 3.19.2 WayPoints.');
}
