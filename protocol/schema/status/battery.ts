import { optional, quantity, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const batterySchema = record('Battery', 'The 12 V battery. Interface 3.19.2 Status.battery.', {
  createdAt,
  voltage: optional(
    1,
    quantity(
      '%',
      0.1,
      [0, 100],
      'Charge of the 12 V battery: a percentage in spite of its name. Interface 3.19.2 Battery.voltage.',
    ),
  ),
});
