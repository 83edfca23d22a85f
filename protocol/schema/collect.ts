/** Collection by command: signals that a car records temporarily in addition to its profile. */
import { count } from './count.ts';
import { flag, list, optional, quantity, record, required, type Static, text } from './fields.ts';

/** Maximum number of signals in one command. */
const MOST_NAMED = 512;
const HOUR = 3_600_000;

const time = (description: string, minimum: number) => quantity('ms', 1, [minimum, 24 * HOUR], description);
const float = (description: string, minimum?: number) => quantity('1', 0, [minimum], description);

export const collectedSignalSchema = record('CollectedSignal', 'A signal that is collected.', {
  signal: required(
    1,
    text('Message and signal as a DBC of the profile names them; `MESSAGE.*` for all signals of a message.', {
      pattern: '^[^.\\s]+\\.[^.\\s]+$',
    }),
  ),
  bus: optional(2, text('Bus of the profile; needed if messages of several buses have the name.', { maxLength: 128 })),
  name: optional(
    3,
    text(
      'Name of its readings, which ends with `.*` if `signal` does; absent: that of the custom signal of the profile, or `MESSAGE.Signal`.',
      { maxLength: 200, pattern: '^[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*(\\.\\*)?$' },
    ),
  ),
  unit: optional(4, text('The unit that the sender expects; the car refuses the command if the signal has another.')),
  resolution: optional(5, float('Smallest step, in the unit; absent: the step of the raw value.')),
  interval: optional(6, time('At most one reading in this time, 0: every change; absent: that of the command.', 0)),
  deadBand: optional(7, float('A change by less is none, in the unit; absent: 0.', 0)),
  heartbeat: optional(8, time('A value that stays the same is repeated after this time; absent: 1 min.', 1)),
  position: optional(9, flag('It says where the car is.')),
});
export type CollectedSignal = Static<typeof collectedSignalSchema>;

const collectConditionSchema = record('CollectCondition', 'What Status must show: exactly one member beside `path`.', {
  path: required(1, text('Path of Status, such as `kinetic.speed`.')),
  equals: optional(2, text('The name it must have, or `true` or `false`.')),
  includes: optional(3, text('Of a set: the name that must be in it.')),
  atMost: optional(4, float('The highest number it may have, in the unit of the path.')),
  atLeast: optional(5, float('The lowest number it may have, in the unit of the path.')),
});

/** Body of a command of kind `Collect`. */
export const collectOrderSchema = record(
  'CollectOrder',
  'Signals of the car that are recorded for a while (docs/collections.md).',
  {
    name: required(
      1,
      text('Name of the collection. A later one of the same name takes its place.', {
        maxLength: 64,
        pattern: '^[A-Za-z0-9_-]+$',
      }),
    ),
    signals: required(
      2,
      list('What is collected; empty: the collection ends.', collectedSignalSchema, { maxItems: MOST_NAMED }),
    ),
    until: optional(
      3,
      quantity('ms', 1, [0, 8.64e15], 'When it ends, UTC since 1970; needed if `signals` is not empty.'),
    ),
    interval: optional(4, time('At most one reading of a signal in this time, 0: every change; absent: 1 s.', 0)),
    while: optional(5, collectConditionSchema),
  },
);
export type CollectOrder = Static<typeof collectOrderSchema>;

/** Collections in a `hello`. */
export const helloCollectSchema = record('HelloCollect', 'Collections by command.', {
  running: required(
    1,
    list(
      'Collections by command that are running.',
      record('HelloCollection', 'A collection.', {
        name: required(1, text('Its name.', { maxLength: 64 })),
        until: required(
          2,
          // Not an instant: it is not from the car's clock, and is not corrected with it.
          quantity('ms', 1, [], 'When it ends, UTC since 1970.'),
        ),
        signals: required(3, count('Number of its signals.')),
      }),
    ),
  ),
  bytesToday: required(2, quantity('B', 1, [0], 'Bytes that were collected since 00:00 UTC.')),
  boundReachedAt: optional(
    3,
    quantity(
      'ms',
      1,
      [],
      'When the bound of bytes per day (`collect.bytesPerDay`) was last reached, UTC since 1970. Nothing more is collected on that day.',
    ),
  ),
});
export type HelloCollect = Static<typeof helloCollectSchema>;
