import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { paging, profile } from '../parameters/query.ts';
import { GEO_JSON, read } from './making.ts';

const tag = 'Status';

/** State and position of the car, and its next service. */
export const statusOperations: readonly Operation[] = [
  read('fleet.status.get', `${vehiclePath.fleet}/status`, 'Reads the state of a vehicle.', {
    tag,
    parameters: [profile],
    shape: 'Status',
  }),
  read('fleet.fleetStatus.list', '/fleets/{fid}/status', 'Lists the states of the vehicles of a fleet.', {
    tag,
    parameters: [profile, ...paging],
    shape: 'StatusList',
    deprecated: true,
  }),
  read(
    'fleet.lastPosition.get',
    `${vehiclePath.fleet}/lastPosition`,
    'Reads the position of a vehicle; the state of the vehicle contains it too.',
    { tag, parameters: [profile], shape: 'Position', media: GEO_JSON, deprecated: true },
  ),
  read('fleet.maintenance.get', `${vehiclePath.fleet}/maintenance`, 'Reads when a vehicle is next due for service.', {
    tag,
    parameters: [profile],
    shape: 'Maintenance',
  }),
  read(
    'fleet.fleetMaintenances.list',
    '/fleets/{fid}/maintenances',
    'Lists when the vehicles of a fleet are next due for service.',
    { tag, parameters: [profile, ...paging], shape: 'MaintenanceList', deprecated: true },
  ),
  read('user.status.get', `${vehiclePath.user}/status`, 'Reads the state of a vehicle.', {
    tag,
    shape: 'Status',
    scopes: { optional: ['data:telemetry', 'data:position'] },
  }),
  read(
    'user.lastPosition.get',
    `${vehiclePath.user}/lastPosition`,
    'Reads the position of a vehicle; the state of the vehicle contains it too.',
    { tag, shape: 'Position', media: GEO_JSON, scopes: { required: ['data:position'] }, deprecated: true },
  ),
  read('user.maintenance.get', `${vehiclePath.user}/maintenance`, 'Reads when a vehicle is next due for service.', {
    tag,
    shape: 'Maintenance',
    scopes: { required: ['data:telemetry'] },
  }),
];
