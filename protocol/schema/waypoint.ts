import { bytes, flag, instant, list, optional, record, required, type Static } from './fields.ts';
import { speed } from './status/kinetic.ts';
import { altitude, fixStatus, heading, latitude, longitude, positionType, signalQuality } from './status/position.ts';

/** A point of the route. It is smaller than the GeoJSON Feature to which the HTTP interface converts it. */
export const waypointSchema = record('Waypoint', 'Positions of the car. Interface 3.19.2 WayPoints.', {
  at: required(1, instant('When the car was there.')),
  latitude: required(2, latitude),
  longitude: required(3, longitude),
  altitude: optional(4, altitude),
  heading: optional(5, heading),
  speed: optional(6, speed),
  type: required(7, positionType),
  fixStatus: optional(8, fixStatus),
  signalQuality: optional(9, signalQuality),
  gap: optional(
    10,
    flag(
      'True: the path between the previous point and this one is unknown, because there was no fix or no power, or privacy hid it. An addition.',
    ),
  ),
});
export type Waypoint = Static<typeof waypointSchema>;

const points = list('Points in the order they were passed.', waypointSchema);

/** Body of a `waypoint` message. */
export const waypointMessageSchema = record('WaypointMessage', 'Part of the path of the car.', {
  points: required(1, points),
});
export type WaypointMessage = Static<typeof waypointMessageSchema>;

/** The wire form of the body: with `points` or `columns`, whichever is shorter. */
export const waypointWireSchema = record('WaypointMessage', 'Part of the path of the car.', {
  points: optional(1, points),
  columns: optional(
    2,
    bytes('The points as columns.', { maxLength: 1 << 18, coding: 'docs/wire-format.md, "Waypoints"' }),
  ),
});
