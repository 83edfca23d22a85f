import { flag, optional, quantity, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const environmentSchema = record(
  'Environment',
  {
    air: optional(
      1,
      record(
        'Air',
        {
          createdAt,
          temp: optional(
            1,
            quantity({
              unit: 'degC',
              resolution: 0.1,
              minimum: -100,
              maximum: 100,
              description: 'Temperature outside. Interface 3.19.2 Air.temp.',
            }),
          ),
        },
        { description: 'The air outside. Interface 3.19.2 Environment.air.' },
      ),
    ),
    luminosity: optional(
      2,
      record(
        'Luminosity',
        { createdAt, day: optional(1, flag({ description: 'It is light outside. Interface 3.19.2 Luminosity.day.' })) },
        { description: 'The light outside. Interface 3.19.2 Environment.luminosity.' },
      ),
    ),
  },
  { description: 'Surroundings of the car. Interface 3.19.2 Status.environment.' },
);
