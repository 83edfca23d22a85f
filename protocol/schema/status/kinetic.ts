import { flag, optional, quantity, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const speed = quantity({
  unit: 'km/h',
  resolution: 0.01,
  minimum: 0,
  maximum: 655.35,
  description: 'Speed over ground, never negative. Interface 3.19.2 Kinetic.speed.',
});

export const kineticSchema = record(
  'Kinetic',
  {
    createdAt,
    speed: optional(1, speed),
    acceleration: optional(
      2,
      quantity({
        unit: 'm/s²',
        resolution: 0.001,
        minimum: -1000,
        maximum: 1000,
        description: 'Longitudinal acceleration, negative when braking. Interface 3.19.2 Kinetic.acceleration.',
      }),
    ),
    moving: optional(3, flag({ description: 'The car moves. Interface 3.19.2 Kinetic.moving.' })),
  },
  { description: 'How the car moves. Interface 3.19.2 Status.kinetic.' },
);
