import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { paging, profile, timestamps } from '../parameters/query.ts';
import { listAndGet } from './making.ts';

const alerts = {
  tag: 'Alerts',
  member: '{aid}',
  shapes: ['Alerts', 'Alert'],
  list: 'Lists the alerts of a vehicle.',
  get: 'Reads an alert of a vehicle.',
  filters: [timestamps, ...paging],
} as const;
const duringTrip = {
  ...alerts,
  list: 'Lists the alerts that there were during a trip.',
  get: 'Reads an alert that there was during a trip.',
};
const optional = ['data:position'] as const;

/** Warnings from the car. */
export const alertOperations: readonly Operation[] = [
  ...listAndGet({ ...alerts, id: 'fleet.alerts', path: `${vehiclePath.fleet}/alerts`, parameters: [profile] }),
  ...listAndGet({
    ...alerts,
    id: 'fleet.fleetAlerts',
    path: '/fleets/{fid}/alerts',
    list: 'Lists the alerts of the vehicles of a fleet.',
    get: 'Reads an alert of a vehicle of a fleet.',
    parameters: [profile],
    deprecated: true,
  }),
  ...listAndGet({
    ...duringTrip,
    id: 'fleet.tripAlerts',
    path: `${vehiclePath.fleet}/trips/{tid}/alerts`,
    parameters: [profile],
  }),
  ...listAndGet({
    ...alerts,
    id: 'user.alerts',
    path: `${vehiclePath.user}/alerts`,
    scopes: { required: ['data:alert'], optional },
  }),
  ...listAndGet({
    ...duringTrip,
    id: 'user.tripAlerts',
    path: `${vehiclePath.user}/trips/{tid}/alerts`,
    scopes: { required: ['data:trip', 'data:alert'], optional },
  }),
];
