import { count } from './count.ts';
import { enumeration, instant, list, optional, record, required, type Static, tuple } from './fields.ts';
import { kinds } from './kind.ts';

/**
 * Body of a `gap` message: messages of one kind that never will come, because the outbox was full, the disk damaged
 * them or the broker refused them for good.
 */
export const gapSchema = record(
  'Gap',
  {
    class: required(1, count('Priority class of the messages (protocol/classes.ts).')),
    lost: required(2, enumeration(kinds, { description: 'Their kind.' })),
    count: required(3, count('How many.', { minimum: 1 })),
    bytes: required(4, count('Their payload, bytes.')),
    from: required(5, instant({ description: '`at` of the oldest.' })),
    to: required(6, instant({ description: '`at` of the newest.' })),
    numbers: optional(
      7,
      list(
        tuple<readonly [number, number]>([count('The first `seq`.'), count('The last `seq`.')], {
          required: 2,
          description: 'Numbers without a hole.',
        }),
        {
          description:
            'Which numbers of the class never come, ascending. Where several kinds of a class were given up together, ' +
            'the gap of each says the numbers of all of them.',
        },
      ),
    ),
  },
  { description: 'What was given up.' },
);
export type Gap = Static<typeof gapSchema>;
