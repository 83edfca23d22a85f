import { enumeration, optional, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const privacySchema = record('Privacy', 'Privacy chosen in the car. Interface 3.19.2 Status.privacy.', {
  createdAt,
  state: optional(
    1,
    enumeration(
      'Data that the people in the car hide: nothing, positions, everything. Interface 3.19.2 Privacy.state.',
      ['None', 'Geolocation', 'Full'],
    ),
  ),
});
