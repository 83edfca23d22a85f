import { count } from './count.ts';
import { enumeration, instant, list, optional, record, required, type Static, tuple } from './fields.ts';
import { kinds } from './kind.ts';

/**
 * Body of a `gap` message: messages that will never arrive, because the outbox was full, the disk damaged them or the
 * broker refused them permanently. If the disk lost even the kind, only their numbers are known.
 */
export const gapSchema = record('Gap', 'Messages that the car gave up.', {
  class: required(1, count('Priority class of the messages (protocol/classes.ts).')),
  lost: optional(2, enumeration('Their kind; absent when the disk lost it.', kinds)),
  count: required(
    3,
    count('How many; without `lost` at most so many, for some of the numbers may never have been used.', {
      minimum: 1,
    }),
  ),
  bytes: optional(4, count('Their payload, bytes; absent without `lost`.')),
  from: optional(5, instant('`at` of the oldest; absent without `lost`.')),
  to: optional(6, instant('`at` of the newest; absent without `lost`.')),
  numbers: optional(
    7,
    list(
      'Which numbers of the class never come, ascending. Where several kinds of a class were given up together, ' +
        'the gap of each says the numbers of all of them.',
      tuple<readonly [number, number]>('Numbers without a hole.', 2, [
        count('The first `seq`.'),
        count('The last `seq`.'),
      ]),
    ),
  ),
});
export type Gap = Static<typeof gapSchema>;
