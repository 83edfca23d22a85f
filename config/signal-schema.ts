/** The form of the `signals` section of a profile: signals that the interface has no path for. */
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { signalKinds } from '../protocol/schema/catalog.ts';
import { choice, closed, duration, keyed, line, listOf, number, truth } from './fields.ts';

/** Parts of a name with points between; `.*` at the end takes all signals of a message. */
const NAME = '^(?=.{1,200}$)[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*(\\.\\*)?$';

const fixed = Type.Unsafe<string | number | boolean>({
  type: ['string', 'number', 'boolean'],
  description: 'The value it must have',
  'x-expected': 'a text, a number, or true or false',
});

/** The interval may be 0: every change is recorded. */
const interval = Type.Unsafe<number | string>({
  ...duration('At most one reading in this time; 0: every change'),
  minimum: 0,
  'x-expected': 'a time such as 250ms, 5s or 2m, or a whole number of milliseconds',
});

const rule = {
  interval: Type.Optional(interval),
  deadBand: Type.Optional(number('A change smaller than this, in the unit, is none', { minimum: 0 })),
  heartbeat: Type.Optional(duration('A reading is repeated after this time without change')),
  timeResolution: Type.Optional(
    choice(['1ms', '10ms', '100ms'], 'Resolution of the times of readings in messages to the cloud'),
  ),
  while: Type.Optional(
    closed(
      {
        path: line('Status path such as powertrain.status'),
        equals: Type.Optional(fixed),
        includes: Type.Optional(line('For a set: the name that must be in it')),
        atMost: Type.Optional(number("The highest number it may have, in the path's unit")),
        atLeast: Type.Optional(number("The lowest number it may have, in the path's unit")),
      },
      'Recorded only while Status shows this, from a reading that is not stale',
    ),
  ),
};

const signal = closed(
  {
    signal: line('Message and signal as the DBC names them; MESSAGE.* for all signals of a message', {
      pattern: '^[^.\\s]+\\.[^.\\s]+$',
      expected: 'a message and a signal with a point between, such as MOTION.Speed, or MOTION.*',
    }),
    bus: Type.Optional(line('Logical bus; may be left out when the profile has only one')),
    kind: Type.Optional(choice(signalKinds, 'What its values are; default: as the DBC describes them')),
    unit: Type.Optional(line('Unit; default: that of the DBC')),
    resolution: Type.Optional(
      number('Smallest step that is kept, in the unit; default: the step of the raw value', { exclusiveMinimum: 0 }),
    ),
    scale: Type.Optional(number('value = physical signal × scale + offset; default 1')),
    offset: Type.Optional(number('value = physical signal × scale + offset; default 0')),
    invalid: Type.Optional(
      listOf(
        Type.Unsafe<number>({ type: 'number', 'x-expected': 'a number' }),
        1,
        'Raw values (before the scaling of the DBC) that mean "not available"; they never become values',
      ),
    ),
    names: Type.Optional(
      keyed(
        '^(-?(0|[1-9][0-9]{0,15})|0x[0-9A-Fa-f]{1,13})$',
        line('Name'),
        'Raw value to name; default: the value table of the DBC',
        'a raw value: a whole number, such as 3 or 0x0F',
      ),
    ),
    timeout: Type.Optional(duration('Silence after which the value is stale; default: never')),
    position: Type.Optional(truth('It says where the car is: privacy hides it as it hides positions')),
    ...rule,
  },
  'A signal that is recorded under a name of its own',
);

export const signalsSchema = Type.Optional(
  keyed(NAME, signal, 'Custom signals by name, COVESA VSS where it has one', 'a name such as Vehicle.Cabin.Lights'),
);

export type SignalInput = Static<typeof signal>;
