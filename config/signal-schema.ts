/** Schema of the `signals` section of a profile: signals for which the interface has no path. */
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { signalKinds } from '../protocol/schema/catalog.ts';
import { bus, conversion, RAW, RAW_EXPECTED, SIGNAL, timeout } from './bus-signal-schema.ts';
import { choice, closed, duration, keyed, line, number, truth } from './fields.ts';

/** Parts of a name, separated by points. `.*` at the end includes all signals of a message. */
const NAME = '^(?=.{1,200}$)[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*(\\.\\*)?$';

const fixed = Type.Unsafe<string | number | boolean>({
  type: ['string', 'number', 'boolean'],
  description: 'The value it must have',
  'x-expected': 'a text, a number, or true or false',
});

/** Recording interval; 0 records every change. */
const interval = Type.Unsafe<number | string>({
  ...duration('At most one reading in this time; 0: every change'),
  minimum: 0,
  'x-expected': 'a time such as 250ms, 5s or 2m, a whole number of milliseconds, or 0 for every change',
});

const rule = {
  interval: Type.Optional(interval),
  deadBand: Type.Optional(number('Smaller changes, in the unit, are not recorded', { minimum: 0 })),
  heartbeat: Type.Optional(duration('A reading is repeated after this time without change')),
  timeResolution: Type.Optional(
    choice(['1ms', '10ms', '100ms'], 'Resolution of the times of readings in messages to the cloud'),
  ),
  while: Type.Optional(
    closed('Recorded only while Status shows this, from a reading that is not stale', {
      path: line('Status path such as powertrain.status'),
      equals: Type.Optional(fixed),
      includes: Type.Optional(line('For a set: the name that must be in it')),
      atMost: Type.Optional(number("The highest number it may have, in the path's unit")),
      atLeast: Type.Optional(number("The lowest number it may have, in the path's unit")),
    }),
  ),
};

const signal = closed('A signal that is recorded under a name of its own', {
  signal: line('Message and signal as the DBC names them; MESSAGE.* for all signals of a message', {
    pattern: SIGNAL,
    expected: 'a message and a signal with a point between, such as MOTION.Speed, or MOTION.*',
  }),
  bus,
  kind: Type.Optional(
    choice(
      [...signalKinds, 'text'],
      'What its values are; default: as the DBC describes them, or the signal set if text',
    ),
  ),
  unit: Type.Optional(line('Unit; default: that of the DBC')),
  resolution: Type.Optional(
    number('Smallest step that is kept, in the unit; default: the step of the raw value', { exclusiveMinimum: 0 }),
  ),
  ...conversion,
  names: Type.Optional(
    keyed(RAW, line('Name'), 'Raw value to name; default: the value table of the DBC', RAW_EXPECTED),
  ),
  timeout,
  position: Type.Optional(truth('It says where the car is: privacy hides it as it hides positions')),
  ...rule,
});

export const signalsSchema = Type.Optional(
  keyed(NAME, signal, 'Custom signals by name, COVESA VSS where it has one', 'a name such as Vehicle.Cabin.Lights'),
);

export type SignalInput = Static<typeof signal>;
