import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { distance, duration, longPaging, paging, profile, states, timestamps, tolerance } from '../parameters/query.ts';
import { listAndGet, read } from './making.ts';

const tag = 'Trips';
const filters = [timestamps, distance, duration, states, ...paging];
const trips = {
  tag,
  member: '{tid}',
  shapes: ['Trips', 'Trip'],
  list: 'Lists the trips of a vehicle.',
  get: 'Reads a trip.',
  filters,
} as const;

/** Trips and their routes. */
export const tripOperations: readonly Operation[] = [
  ...listAndGet({ ...trips, id: 'fleet.trips', path: `${vehiclePath.fleet}/trips`, parameters: [profile] }),
  read('fleet.fleetTrips.list', '/fleets/{fid}/trips', 'Lists the trips of the vehicles of a fleet.', {
    tag,
    parameters: [profile, ...filters],
    shape: 'Trips',
    deprecated: true,
  }),
  read('fleet.tripWaypoints.list', `${vehiclePath.fleet}/trips/{tid}/wayPoints`, 'Lists the waypoints of a trip.', {
    tag,
    parameters: [profile, timestamps, tolerance, ...longPaging],
    shape: 'WayPoints',
  }),
  ...listAndGet({
    ...trips,
    id: 'user.trips',
    path: `${vehiclePath.user}/trips`,
    scopes: { required: ['data:trip'], optional: ['data:position'] },
  }),
  read('user.tripWaypoints.list', `${vehiclePath.user}/trips/{tid}/wayPoints`, 'Lists the waypoints of a trip.', {
    tag,
    parameters: [timestamps, tolerance, ...longPaging],
    shape: 'WayPoints',
    scopes: { required: ['data:trip', 'data:position'] },
    deprecated: true,
  }),
];
