import { optional, quantity, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const batterySchema = record(
  'Battery',
  {
    createdAt,
    voltage: optional(
      1,
      quantity({
        unit: '%',
        resolution: 0.1,
        minimum: 0,
        maximum: 100,
        description: 'Charge of the 12 V battery: a percentage in spite of its name. Interface 3.19.2 Battery.voltage.',
      }),
    ),
  },
  { description: 'The 12 V battery. Interface 3.19.2 Status.battery.' },
);
