import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { paging, profile, timestamps } from '../parameters/query.ts';
import { read } from './making.ts';

const tag = 'Collisions';
const scopes = { required: ['data:collision'] } as const;
const tripScopes = { required: ['data:trip', 'data:collision'] } as const;
const filters = [timestamps, ...paging];

/** Collisions of the car. */
export const collisionOperations: readonly Operation[] = [
  read({
    id: 'fleet.collisions.list',
    side: 'fleet',
    path: `${vehiclePath.fleet}/collisions`,
    tag,
    summary: 'Lists the collisions of a vehicle.',
    parameters: [profile, ...filters],
    shape: 'Collisions',
  }),
  read({
    id: 'fleet.collisions.get',
    side: 'fleet',
    path: `${vehiclePath.fleet}/collisions/{cid}`,
    tag,
    summary: 'Reads a collision of a vehicle.',
    parameters: [profile],
    shape: 'Collision',
  }),
  read({
    id: 'fleet.fleetCollisions.list',
    side: 'fleet',
    path: '/fleets/{fid}/collisions',
    tag,
    summary: 'Lists the collisions of the vehicles of a fleet.',
    parameters: [profile, ...filters],
    shape: 'Collisions',
    deprecated: true,
  }),
  read({
    id: 'fleet.fleetCollisions.get',
    side: 'fleet',
    path: '/fleets/{fid}/collisions/{cid}',
    tag,
    summary: 'Reads a collision of a vehicle of a fleet.',
    parameters: [profile],
    shape: 'Collision',
    deprecated: true,
  }),
  read({
    id: 'fleet.tripCollisions.list',
    side: 'fleet',
    path: `${vehiclePath.fleet}/trips/{tid}/collisions`,
    tag,
    summary: 'Lists the collisions that there were during a trip.',
    parameters: filters,
    shape: 'Collisions',
  }),
  read({
    id: 'user.collisions.list',
    side: 'user',
    path: `${vehiclePath.user}/collisions`,
    tag,
    summary: 'Lists the collisions of a vehicle.',
    parameters: filters,
    shape: 'Collisions',
    scopes,
    deprecated: true,
  }),
  read({
    id: 'user.collisions.get',
    side: 'user',
    path: `${vehiclePath.user}/collisions/{cid}`,
    tag,
    summary: 'Reads a collision of a vehicle.',
    shape: 'Collision',
    scopes,
    deprecated: true,
  }),
  read({
    id: 'user.tripCollisions.list',
    side: 'user',
    path: `${vehiclePath.user}/trips/{tid}/collisions`,
    tag,
    summary: 'Lists the collisions that there were during a trip.',
    parameters: filters,
    shape: 'Collisions',
    scopes: tripScopes,
    deprecated: true,
  }),
  read({
    id: 'user.tripCollisions.get',
    side: 'user',
    path: `${vehiclePath.user}/trips/{tid}/collisions/{cid}`,
    tag,
    summary: 'Reads a collision that there was during a trip.',
    shape: 'Collision',
    scopes: tripScopes,
    deprecated: true,
  }),
];
