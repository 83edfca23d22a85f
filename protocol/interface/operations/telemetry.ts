import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { longPaging, profile, telemetryExtension, telemetryType, timestamps } from '../parameters/query.ts';
import { read } from './making.ts';

const tag = 'Telemetry';
const parts = ['data:telemetry', 'data:position'] as const;
const common = [timestamps, ...longPaging, telemetryExtension];

/** Readings over time. */
export const telemetryOperations: readonly Operation[] = [
  read('fleet.telemetry.list', `${vehiclePath.fleet}/telemetry`, 'Lists readings of a vehicle.', {
    tag,
    parameters: [profile, telemetryType.fleet, ...common],
    shape: 'Telemetries',
  }),
  read(
    'fleet.tripTelemetry.list',
    `${vehiclePath.fleet}/trips/{tid}/telemetry`,
    'Lists readings of a vehicle during a trip.',
    { tag, parameters: [profile, telemetryType.fleet, ...common], shape: 'Telemetries' },
  ),
  read('user.telemetry.list', `${vehiclePath.user}/telemetry`, 'Lists readings of a vehicle.', {
    tag,
    parameters: [telemetryType.user, ...common],
    shape: 'Telemetries',
    scopes: { optional: parts },
    deprecated: true,
  }),
  read(
    'user.tripTelemetry.list',
    `${vehiclePath.user}/trips/{tid}/telemetry`,
    'Lists readings of a vehicle during a trip.',
    {
      tag,
      parameters: [telemetryType.user, ...common],
      shape: 'Telemetries',
      scopes: { required: ['data:trip'], optional: parts },
      deprecated: true,
    },
  ),
];
