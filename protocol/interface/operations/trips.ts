import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { distance, duration, longPaging, paging, profile, states, timestamps, tolerance } from '../parameters/query.ts';
import { read } from './making.ts';

const tag = 'Trips';
const filters = [timestamps, distance, duration, states, ...paging];

/** Trips and their ways. */
export const tripOperations: readonly Operation[] = [
  read({
    id: 'fleet.trips.list',
    side: 'fleet',
    path: `${vehiclePath.fleet}/trips`,
    tag,
    summary: 'Lists the trips of a vehicle.',
    parameters: [profile, ...filters],
    shape: 'Trips',
  }),
  read({
    id: 'fleet.trips.get',
    side: 'fleet',
    path: `${vehiclePath.fleet}/trips/{tid}`,
    tag,
    summary: 'Reads a trip.',
    parameters: [profile],
    shape: 'Trip',
  }),
  read({
    id: 'fleet.fleetTrips.list',
    side: 'fleet',
    path: '/fleets/{fid}/trips',
    tag,
    summary: 'Lists the trips of the vehicles of a fleet.',
    parameters: [profile, ...filters],
    shape: 'Trips',
    deprecated: true,
  }),
  read({
    id: 'fleet.tripWaypoints.list',
    side: 'fleet',
    path: `${vehiclePath.fleet}/trips/{tid}/wayPoints`,
    tag,
    summary: 'Lists the waypoints of a trip.',
    parameters: [profile, timestamps, tolerance, ...longPaging],
    shape: 'WayPoints',
  }),
  read({
    id: 'user.trips.list',
    side: 'user',
    path: `${vehiclePath.user}/trips`,
    tag,
    summary: 'Lists the trips of a vehicle.',
    parameters: filters,
    shape: 'Trips',
    scopes: { required: ['data:trip'], optional: ['data:position'] },
  }),
  read({
    id: 'user.trips.get',
    side: 'user',
    path: `${vehiclePath.user}/trips/{tid}`,
    tag,
    summary: 'Reads a trip.',
    shape: 'Trip',
    scopes: { required: ['data:trip'], optional: ['data:position'] },
  }),
  read({
    id: 'user.tripWaypoints.list',
    side: 'user',
    path: `${vehiclePath.user}/trips/{tid}/wayPoints`,
    tag,
    summary: 'Lists the waypoints of a trip.',
    parameters: [timestamps, tolerance, ...longPaging],
    shape: 'WayPoints',
    scopes: { required: ['data:trip', 'data:position'] },
    deprecated: true,
  }),
];
