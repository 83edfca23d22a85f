import { flag, optional, quantity, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const environmentSchema = record(
  'Environment',
  'Surroundings of the car. Interface 3.19.2 Status.environment.',
  {
    air: optional(
      1,
      record('Air', 'The air outside. Interface 3.19.2 Environment.air.', {
        createdAt,
        temp: optional(1, quantity('degC', 0.1, [-100, 100], 'Temperature outside. Interface 3.19.2 Air.temp.')),
      }),
    ),
    luminosity: optional(
      2,
      record('Luminosity', 'The light outside. Interface 3.19.2 Environment.luminosity.', {
        createdAt,
        day: optional(1, flag('It is light outside. Interface 3.19.2 Luminosity.day.')),
      }),
    ),
  },
);
