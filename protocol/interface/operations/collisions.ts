import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { paging, profile, timestamps } from '../parameters/query.ts';
import { listAndGet, read } from './making.ts';

const tag = 'Collisions';
const filters = [timestamps, ...paging];
const listDuringTrip = 'Lists the collisions that there were during a trip.';
const collisions = {
  tag,
  member: '{cid}',
  shapes: ['Collisions', 'Collision'],
  list: 'Lists the collisions of a vehicle.',
  get: 'Reads a collision of a vehicle.',
  filters,
} as const;

/** Collisions of the car. */
export const collisionOperations: readonly Operation[] = [
  ...listAndGet({
    ...collisions,
    id: 'fleet.collisions',
    path: `${vehiclePath.fleet}/collisions`,
    parameters: [profile],
  }),
  ...listAndGet({
    ...collisions,
    id: 'fleet.fleetCollisions',
    path: '/fleets/{fid}/collisions',
    list: 'Lists the collisions of the vehicles of a fleet.',
    get: 'Reads a collision of a vehicle of a fleet.',
    parameters: [profile],
    deprecated: true,
  }),
  read('fleet.tripCollisions.list', `${vehiclePath.fleet}/trips/{tid}/collisions`, listDuringTrip, {
    tag,
    parameters: filters,
    shape: 'Collisions',
  }),
  ...listAndGet({
    ...collisions,
    id: 'user.collisions',
    path: `${vehiclePath.user}/collisions`,
    scopes: { required: ['data:collision'] },
    deprecated: true,
  }),
  ...listAndGet({
    ...collisions,
    id: 'user.tripCollisions',
    path: `${vehiclePath.user}/trips/{tid}/collisions`,
    list: listDuringTrip,
    get: 'Reads a collision that there was during a trip.',
    scopes: { required: ['data:trip', 'data:collision'] },
    deprecated: true,
  }),
];
