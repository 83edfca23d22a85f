import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { paging, profile, timestamps } from '../parameters/query.ts';
import { read } from './making.ts';

const tag = 'Alerts';
const scopes = { required: ['data:alert'], optional: ['data:position'] } as const;
const tripScopes = { required: ['data:trip', 'data:alert'], optional: ['data:position'] } as const;
const filters = [timestamps, ...paging];

/** Warnings of the car. */
export const alertOperations: readonly Operation[] = [
  read({
    id: 'fleet.alerts.list',
    side: 'fleet',
    path: `${vehiclePath.fleet}/alerts`,
    tag,
    summary: 'Lists the alerts of a vehicle.',
    parameters: [profile, ...filters],
    shape: 'Alerts',
  }),
  read({
    id: 'fleet.alerts.get',
    side: 'fleet',
    path: `${vehiclePath.fleet}/alerts/{aid}`,
    tag,
    summary: 'Reads an alert of a vehicle.',
    parameters: [profile],
    shape: 'Alert',
  }),
  read({
    id: 'fleet.fleetAlerts.list',
    side: 'fleet',
    path: '/fleets/{fid}/alerts',
    tag,
    summary: 'Lists the alerts of the vehicles of a fleet.',
    parameters: [profile, ...filters],
    shape: 'Alerts',
    deprecated: true,
  }),
  read({
    id: 'fleet.fleetAlerts.get',
    side: 'fleet',
    path: '/fleets/{fid}/alerts/{aid}',
    tag,
    summary: 'Reads an alert of a vehicle of a fleet.',
    parameters: [profile],
    shape: 'Alert',
    deprecated: true,
  }),
  read({
    id: 'fleet.tripAlerts.list',
    side: 'fleet',
    path: `${vehiclePath.fleet}/trips/{tid}/alerts`,
    tag,
    summary: 'Lists the alerts that there were during a trip.',
    parameters: [profile, ...filters],
    shape: 'Alerts',
  }),
  read({
    id: 'fleet.tripAlerts.get',
    side: 'fleet',
    path: `${vehiclePath.fleet}/trips/{tid}/alerts/{aid}`,
    tag,
    summary: 'Reads an alert that there was during a trip.',
    parameters: [profile],
    shape: 'Alert',
  }),
  read({
    id: 'user.alerts.list',
    side: 'user',
    path: `${vehiclePath.user}/alerts`,
    tag,
    summary: 'Lists the alerts of a vehicle.',
    parameters: filters,
    shape: 'Alerts',
    scopes,
  }),
  read({
    id: 'user.alerts.get',
    side: 'user',
    path: `${vehiclePath.user}/alerts/{aid}`,
    tag,
    summary: 'Reads an alert of a vehicle.',
    shape: 'Alert',
    scopes,
  }),
  read({
    id: 'user.tripAlerts.list',
    side: 'user',
    path: `${vehiclePath.user}/trips/{tid}/alerts`,
    tag,
    summary: 'Lists the alerts that there were during a trip.',
    parameters: filters,
    shape: 'Alerts',
    scopes: tripScopes,
  }),
  read({
    id: 'user.tripAlerts.get',
    side: 'user',
    path: `${vehiclePath.user}/trips/{tid}/alerts/{aid}`,
    tag,
    summary: 'Reads an alert that there was during a trip.',
    shape: 'Alert',
    scopes: tripScopes,
  }),
];
