import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { longPaging, profile, telemetryExtension, telemetryType, timestamps } from '../parameters/query.ts';
import { read } from './making.ts';

const tag = 'Telemetry';
const parts = ['data:telemetry', 'data:position'] as const;
const common = [timestamps, ...longPaging, telemetryExtension];

/** Readings over time. */
export const telemetryOperations: readonly Operation[] = [
  read({
    id: 'fleet.telemetry.list',
    path: `${vehiclePath.fleet}/telemetry`,
    tag,
    summary: 'Lists readings of a vehicle.',
    parameters: [profile, telemetryType.fleet, ...common],
    shape: 'Telemetries',
  }),
  read({
    id: 'fleet.tripTelemetry.list',
    path: `${vehiclePath.fleet}/trips/{tid}/telemetry`,
    tag,
    summary: 'Lists readings of a vehicle during a trip.',
    parameters: [profile, telemetryType.fleet, ...common],
    shape: 'Telemetries',
  }),
  read({
    id: 'user.telemetry.list',
    path: `${vehiclePath.user}/telemetry`,
    tag,
    summary: 'Lists readings of a vehicle.',
    parameters: [telemetryType.user, ...common],
    shape: 'Telemetries',
    scopes: { optional: parts },
    deprecated: true,
  }),
  read({
    id: 'user.tripTelemetry.list',
    path: `${vehiclePath.user}/trips/{tid}/telemetry`,
    tag,
    summary: 'Lists readings of a vehicle during a trip.',
    parameters: [telemetryType.user, ...common],
    shape: 'Telemetries',
    scopes: { required: ['data:trip'], optional: parts },
    deprecated: true,
  }),
];
