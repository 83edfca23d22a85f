import type { Side } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { idempotencyKey, paging, vehicleHeader } from '../parameters/query.ts';
import { manage } from './making.ts';
import { dataScopes } from './scopes.ts';

const monitors = (side: Side, path: string) =>
  manage(side, path, {
    one: 'monitor',
    member: '{mid}',
    shapes: ['Monitors', 'Monitor', 'MonitorRef'],
    body: side === 'fleet' ? 'fleetMonitor' : 'userMonitor',
    added: 202,
    filters: paging,
    onCreate: side === 'fleet' ? [vehicleHeader, idempotencyKey] : [idempotencyKey],
    scopes: side === 'fleet' ? {} : { optional: dataScopes },
  });

/** Rules that the car evaluates. */
export const monitorOperations = [
  ...monitors('fleet', '/fleets/{fid}/monitors'),
  ...monitors('user', `${vehiclePath.user}/callbacks/{cbid}/monitors`),
];
