import { enumeration, optional, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const privacySchema = record(
  'Privacy',
  {
    createdAt,
    state: optional(
      1,
      enumeration(['None', 'Geolocation', 'Full'], {
        description:
          'Data that the people in the car hide: nothing, positions, everything. Interface 3.19.2 Privacy.state.',
      }),
    ),
  },
  { description: 'Privacy chosen in the car. Interface 3.19.2 Status.privacy.' },
);
