import { flag, optional, quantity, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const speed = quantity(
  'km/h',
  0.01,
  [0, 655.35],
  'Speed over ground, never negative. Interface 3.19.2 Kinetic.speed.',
);

export const kineticSchema = record('Kinetic', 'How the car moves. Interface 3.19.2 Status.kinetic.', {
  createdAt,
  speed: optional(1, speed),
  acceleration: optional(
    2,
    quantity(
      'm/s²',
      0.001,
      [-1000, 1000],
      'Longitudinal acceleration, negative when braking. Interface 3.19.2 Kinetic.acceleration.',
    ),
  ),
  moving: optional(3, flag('The car moves. Interface 3.19.2 Kinetic.moving.')),
});
