import { count } from './count.ts';
import { flag, list, optional, record, required, type Static, text } from './fields.ts';
import { statusContentsSchema } from './status.ts';
import { openTripSchema } from './trip.ts';

/** Body of a `status` message. The VIN is in the topic, the time is in the envelope. */
export const statusMessageSchema = record('StatusMessage', 'The state of the car, or its changes.', {
  full: required(
    1,
    flag(
      'True: this is the whole Status; discard earlier ones. False: merge it member by member, entries of arrays by their identity; other members stay unchanged.',
    ),
  ),
  status: required(2, statusContentsSchema),
  removed: optional(
    3,
    list(
      'Paths without a value; remove them before you merge `status`.',
      text('Path of a slot or object, e.g. `stolen` or `lastPosition.altitude`.'),
    ),
  ),
  stale: optional(
    4,
    list(
      'All slots whose value has not been read within its time-out; absent: no slot. Each message has the complete list.',
      count('Id of a slot (protocol/slots.ts).'),
    ),
  ),
  trip: optional(5, openTripSchema),
});
export type StatusMessage = Static<typeof statusMessageSchema>;
