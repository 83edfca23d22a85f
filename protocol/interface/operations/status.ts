import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { paging, profile } from '../parameters/query.ts';
import { GEO_JSON, read } from './making.ts';

const tag = 'Status';

/** What the car is and where it is now, and when it needs service. */
export const statusOperations: readonly Operation[] = [
  read({
    id: 'fleet.status.get',
    path: `${vehiclePath.fleet}/status`,
    tag,
    summary: 'Reads the state of a vehicle.',
    parameters: [profile],
    shape: 'Status',
  }),
  read({
    id: 'fleet.fleetStatus.list',
    path: '/fleets/{fid}/status',
    tag,
    summary: 'Lists the states of the vehicles of a fleet.',
    parameters: [profile, ...paging],
    shape: 'StatusList',
    deprecated: true,
  }),
  read({
    id: 'fleet.lastPosition.get',
    path: `${vehiclePath.fleet}/lastPosition`,
    tag,
    summary: 'Reads the position of a vehicle; the state of the vehicle contains it too.',
    parameters: [profile],
    shape: 'Position',
    media: GEO_JSON,
    deprecated: true,
  }),
  read({
    id: 'fleet.maintenance.get',
    path: `${vehiclePath.fleet}/maintenance`,
    tag,
    summary: 'Reads when a vehicle is next due for service.',
    parameters: [profile],
    shape: 'Maintenance',
  }),
  read({
    id: 'fleet.fleetMaintenances.list',
    path: '/fleets/{fid}/maintenances',
    tag,
    summary: 'Lists when the vehicles of a fleet are next due for service.',
    parameters: [profile, ...paging],
    shape: 'MaintenanceList',
    deprecated: true,
  }),
  read({
    id: 'user.status.get',
    path: `${vehiclePath.user}/status`,
    tag,
    summary: 'Reads the state of a vehicle.',
    shape: 'Status',
    scopes: { optional: ['data:telemetry', 'data:position'] },
  }),
  read({
    id: 'user.lastPosition.get',
    path: `${vehiclePath.user}/lastPosition`,
    tag,
    summary: 'Reads the position of a vehicle; the state of the vehicle contains it too.',
    shape: 'Position',
    media: GEO_JSON,
    scopes: { required: ['data:position'] },
    deprecated: true,
  }),
  read({
    id: 'user.maintenance.get',
    path: `${vehiclePath.user}/maintenance`,
    tag,
    summary: 'Reads when a vehicle is next due for service.',
    shape: 'Maintenance',
    scopes: { required: ['data:telemetry'] },
  }),
];
