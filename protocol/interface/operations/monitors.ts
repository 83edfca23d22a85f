import type { Operation, Side } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { idempotencyKey, paging, vehicleHeader } from '../parameters/query.ts';
import { read, remove, write } from './making.ts';
import { dataScopes } from './scopes.ts';

const paths: Readonly<Record<Side, string>> = {
  fleet: '/fleets/{fid}/monitors',
  user: `${vehiclePath.user}/callbacks/{cbid}/monitors`,
};

function monitors(side: Side): Operation[] {
  const path = paths[side];
  const one = `${path}/{mid}`;
  const body = side === 'fleet' ? 'fleetMonitor' : 'userMonitor';
  const given = { side, tag: 'Monitors', scopes: side === 'fleet' ? {} : { optional: dataScopes } } as const;
  return [
    read({
      ...given,
      id: `${side}.monitors.list`,
      path,
      summary: 'Lists the monitors.',
      parameters: paging,
      shape: 'Monitors',
    }),
    write({
      ...given,
      id: `${side}.monitors.create`,
      method: 'POST',
      path,
      summary: 'Adds a monitor, which then runs.',
      parameters: side === 'fleet' ? [vehicleHeader, idempotencyKey] : [idempotencyKey],
      body,
      status: 202,
      shape: 'MonitorRef',
    }),
    read({ ...given, id: `${side}.monitors.get`, path: one, summary: 'Reads a monitor.', shape: 'Monitor' }),
    write({
      ...given,
      id: `${side}.monitors.replace`,
      method: 'PUT',
      path: one,
      summary: 'Replaces a monitor.',
      parameters: [idempotencyKey],
      body,
      status: 202,
      shape: 'MonitorRef',
    }),
    remove({ ...given, id: `${side}.monitors.remove`, path: one, summary: 'Deletes a monitor.' }),
    write({
      ...given,
      id: `${side}.monitors.setStatus`,
      method: 'PUT',
      path: `${one}/status`,
      summary: 'Lets a monitor run or pause.',
      parameters: [idempotencyKey],
      body: 'statusSetter',
      status: 202,
      shape: 'MonitorRef',
    }),
  ];
}

/** Rules that the car watches. */
export const monitorOperations: readonly Operation[] = [...monitors('fleet'), ...monitors('user')];
