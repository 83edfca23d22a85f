import { count } from './count.ts';
import { enumeration, instant, record, required, type Static } from './fields.ts';
import { kinds } from './kind.ts';

/** Body of a `gap` message: messages of one kind that never will come, because the outbox was full. */
export const gapSchema = record(
  'Gap',
  {
    class: required(1, count('Priority class of the messages (protocol/classes.ts).')),
    lost: required(2, enumeration(kinds, { description: 'Their kind.' })),
    count: required(3, count('How many.', { minimum: 1 })),
    bytes: required(4, count('Their payload, bytes.')),
    from: required(5, instant({ description: '`at` of the oldest.' })),
    to: required(6, instant({ description: '`at` of the newest.' })),
  },
  { description: 'What was given up to make room.' },
);
export type Gap = Static<typeof gapSchema>;
