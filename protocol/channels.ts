/**
 * Values that recorders and commands need in addition to Status: the interface has records of them, or a command that
 * requires them, but no field in Status. A profile feeds a channel like a path of Status.
 */

import { alertTypes } from './schema/alert-types.ts';
import { collisionSeverities, collisionSides } from './schema/collision.ts';
import type { TSchema } from './schema/fields.ts';
import { daysBeforeMaintenance, mileageBeforeMaintenance } from './schema/maintenance.ts';
import type { Leaf } from './slots.ts';

export interface Channel extends Leaf {
  /** Dense, 0 first; for memory only. */
  readonly index: number;
  /** Description for people. */
  readonly description: string;
  /** True if each reading counts, not only a change: a series of samples. */
  readonly sampled: boolean;
}

const flags: Readonly<Record<string, string>> = {
  'collision.detected': 'The car says that it was hit.',
  'collision.tippedOver': 'The car lies on its side or roof.',
  'collision.pedestrian': 'The car says that it hit a pedestrian.',
  'key.present': 'A key of the car is in it, or was used to open or start it.',
  'horn.sounding': 'The horn sounds.',
  'immobilizer.active': 'The car cannot be started.',
  'navigation.received': 'The navigation has taken all of the last destination; false while it is being handed over.',
};

const axes: Readonly<Record<string, string>> = {
  'acceleration.longitudinal': 'Acceleration forward. ISO 8855:2011 §2.11.',
  'acceleration.lateral': 'Acceleration to the left. ISO 8855:2011 §2.11.',
  'acceleration.vertical': 'Acceleration upward, gravity included: 9.8 at rest. ISO 8855:2011 §2.11.',
};

/** Range of acceleration in m/s². A crash beyond the range of the accelerometer still counts as a crash. */
const ACCELERATION = { unit: 'm/s²', resolution: 0.01, minimum: -5000, maximum: 5000 };

const leaves: readonly Omit<Channel, 'index'>[] = [
  ...alertTypes.map((type) => flag(`alerts.${type}`, `The car warns: ${type}.`)),
  measured('maintenance.days', daysBeforeMaintenance),
  measured('maintenance.mileage', mileageBeforeMaintenance),
  ...Object.entries(flags).map(([path, description]) => flag(path, description)),
  {
    path: 'collision.side',
    kind: 'enumeration',
    values: collisionSides,
    description: 'Where it was hit.',
    sampled: false,
  },
  {
    path: 'collision.severity',
    kind: 'enumeration',
    values: collisionSeverities,
    description: 'How hard it was hit.',
    sampled: false,
  },
  ...Object.entries(axes).map(
    ([path, description]) => ({ path, kind: 'quantity', ...ACCELERATION, description, sampled: true }) as const,
  ),
];

export const channels: readonly Channel[] = leaves.map((leaf, index) => ({ ...leaf, index }));

export const channelByPath: ReadonlyMap<string, Channel> = new Map(channels.map((channel) => [channel.path, channel]));

function flag(path: string, description: string): Omit<Channel, 'index'> {
  return { path, kind: 'flag', description, sampled: false };
}

function measured(path: string, schema: TSchema): Omit<Channel, 'index'> {
  const told = schema as unknown as {
    'x-unit': string;
    'x-resolution': number;
    minimum: number;
    maximum: number;
    description: string;
  };
  const { minimum, maximum, description } = told;
  const quantity = { unit: told['x-unit'], resolution: told['x-resolution'], minimum, maximum };
  return { path, kind: 'quantity', ...quantity, description, sampled: false };
}
