/** Schema of a vehicle profile. profile.ts and the modules that it imports check what the fields mean for Status. */

import type { Static, TSchema } from 'typebox';
import * as Type from 'typebox';
import { channels } from '../protocol/channels.ts';
import { failureCauses } from '../protocol/errors.ts';
import { alertSeverities } from '../protocol/schema/alert.ts';
import { bus, conversion, RAW, RAW_EXPECTED, SIGNAL, timeout, word } from './bus-signal-schema.ts';
import { capturesSchema } from './capture-schema.ts';
import { choice, closed, duration, format, keyed, line, listOf, NAME, number, oneOrList, truth } from './fields.ts';
import { signalsSchema } from './signal-schema.ts';
import { controlUnitSchema, udsSchema } from './uds-schema.ts';

/** Format version of profiles that this version reads. */
const profileVersion = 1;

/** Form only: the code that reads a path checks that it exists in Status, and suggests similar names. */
const PATH = '^[^\\s\\u0000-\\u001f]{1,200}$';

const path = (description: string) =>
  line(description, { pattern: PATH, expected: 'a Status path such as kinetic.speed' });

const fixedValue = Type.Unsafe<string | number | boolean | readonly string[]>({
  type: ['string', 'number', 'boolean', 'array'],
  items: { type: 'string', 'x-expected': 'a name' },
  'x-expected': 'a text, a number, true or false, or a list of names',
});

const sourceMembers = {
  signal: line('Message and signal as the DBC names them', {
    pattern: SIGNAL,
    expected: 'a message and a signal with a point between, such as MOTION.Speed',
  }),
  bus,
  ...conversion,
  map: Type.Optional(
    keyed(RAW, fixedValue, 'Raw value to value; raw values that are not listed never become values', RAW_EXPECTED),
  ),
  timeout,
  failover: Type.Optional(duration('Silence after which the next source of the same path takes over')),
};

const source = closed('Source of the value', sourceMembers);

const alert = closed('A warning of the car', {
  ...sourceMembers,
  severity: Type.Optional(choice(alertSeverities, 'How bad it is')),
  onAfter: Type.Optional(duration('Time that the signal must be true before the alert begins')),
  offAfter: Type.Optional(duration('The signal must be gone for this long before the alert ends')),
});

/** Section that contains a source for each channel whose path starts with the section's name (protocol/channels.ts). */
function channelSection(section: string, description: string) {
  const members = channels
    .filter(({ path }) => path.startsWith(`${section}.`))
    .map(({ path, description }) => [
      path.slice(section.length + 1),
      Type.Optional(describe(oneOrList(source), description)),
    ]);
  return Type.Optional(closed(description, Object.fromEntries(members) as Record<string, TSchema>));
}

function describe<S extends TSchema>(schema: S, description: string): S {
  return { ...schema, description };
}

const telemetryRule = closed('Conditions for a telemetry reading', {
  interval: Type.Optional(duration('At most one reading in this time')),
  deadBand: Type.Optional(number("Smaller changes, in the path's unit, are not recorded", { minimum: 0 })),
  heartbeat: Type.Optional(duration('A reading is repeated after this time without change')),
  resolution: Type.Optional(
    choice(['1ms', '10ms', '100ms'], 'Resolution of the times of readings in messages to the cloud'),
  ),
});

const checksum = closed('Checksum over the frame, computed after all other signals are set', {
  signal: word('Signal that carries it'),
  method: choice(['sum', 'xor', 'crc8-j1850', 'autosar-p1', 'autosar-p2'], 'Method of computation'),
  dataId: Type.Optional(
    Type.Unsafe<number | readonly number[]>({
      type: ['integer', 'array'],
      minimum: 0,
      maximum: 0xffff,
      items: { type: 'integer', minimum: 0, maximum: 0xff, 'x-expected': 'a whole number' },
      minItems: 16,
      maxItems: 16,
      description: 'Data ID of AUTOSAR E2E profile 1, or the list of 16 of profile 2 (one for each counter value)',
      'x-expected': 'a whole number or a list of 16',
    }),
  ),
});

const send = closed('The frame that asks the car', {
  bus,
  message: word('Message as the DBC names it'),
  signals: keyed(
    '^[^.\\s]{1,128}$',
    Type.Unsafe<number | string>({
      type: ['number', 'string'],
      'x-expected': 'a physical value or a name of the value table',
    }),
    'Physical values (or names of the value table) by signal; the others are sent as raw 0. {longitude}, {latitude}, ' +
      '{index} and {last} (1 with the last) are replaced: the agent sends a frame for each position',
    'the name of a signal',
  ),
  every: Type.Optional(duration('Time between repetitions; together with `for`')),
  for: Type.Optional(duration('How long the frame is repeated; without it one frame is sent')),
  counter: Type.Optional(word('Signal that counts the frames')),
  checksum: Type.Optional(checksum),
});

const confirm = closed('How the car shows that it has done it', {
  path: path('Status path or channel, such as horn.sounding, that shows the outcome'),
  equals: Type.Optional(
    Type.Unsafe<string | number | boolean>({
      type: ['string', 'number', 'boolean'],
      description: 'The value it must have',
      'x-expected': 'a text, a number, or true or false',
    }),
  ),
  includes: Type.Optional(line('For a set: the name that must be in it')),
});

const requirement = closed('A further condition of the command; it replaces the built-in one on the same path', {
  path: path('Status path of the condition; its reading must not be stale'),
  equals: Type.Optional(
    Type.Unsafe<string | number | boolean>({
      type: ['string', 'number', 'boolean'],
      description: 'The value it must have',
      'x-expected': 'a text, a number, or true or false',
    }),
  ),
  includes: Type.Optional(line('For a set: the name that must be in it')),
  atMost: Type.Optional(number("The highest number it may have, in the path's unit")),
  atLeast: Type.Optional(number("The lowest number it may have, in the path's unit")),
  cause: choice(failureCauses, 'Cause with which the command fails if the condition is not met'),
});

const command = closed('One action of the car', {
  send: Type.Optional(send),
  uds: Type.Optional(udsSchema),
  confirm,
  within: Type.Optional(duration('Time the car may take; later is a failure')),
  requires: Type.Optional(listOf(requirement, 1, 'Conditions besides the built-in ones')),
});

const obd = closed('Signals that need polling', {
  signalsets: listOf(
    line('Signal set (JSON), relative to this profile'),
    1,
    'Files of commands and signals; later files take precedence',
  ),
  modelYear: Type.Optional(number('Commands for other years are left out', { minimum: 1980, maximum: 2100 })),
  asleepAfter: Type.Optional(
    Type.Unsafe<number | string>({
      ...duration('Silence of the bus after which polling stops; `never` for a bus that carries only answers'),
      pattern: '^(never|(?=.*[1-9])[0-9]{1,7}(\\.[0-9]{1,3})?(ms|s|m|h|d))$',
      'x-expected': 'a time such as 3s, or never',
    }),
  ),
  poll: Type.Optional(
    closed('Intervals and priorities of polling', {
      requestsPerSecond: Type.Optional(
        number('Maximum of requests to the car', { exclusiveMinimum: 0, maximum: 1000 }),
      ),
      parametersPerRequest: Type.Optional(
        number('Parameters of service 01 in one request, on CAN', { minimum: 1, maximum: 6 }),
      ),
      interval: Type.Optional(duration('Interval of commands without one in profile and set')),
      longestBackOff: Type.Optional(
        duration('Longest time until something that the car did not answer is tried again'),
      ),
      signals: Type.Optional(
        keyed(
          SIGNAL,
          closed('Interval and priority of a signal', {
            interval: Type.Optional(duration('Interval of polling; default: that of its signal set')),
            priority: Type.Optional(choice(['high', 'normal', 'low'], 'Priority when more is due than fits')),
          }),
          'By signal',
          'a message and a signal with a point between, such as OBD.VehicleSpeed',
        ),
      ),
    }),
  ),
});

export const profileSchema = closed(
  'Vehicle profile: how the signals of a car become Status, and how the car carries out commands',
  {
    profile: format(profileVersion, 'Version of this format'),
    name: line('Short name', { pattern: NAME, expected: 'a name of letters, digits, - and _' }),
    title: Type.Optional(line('Title for people; default: the name')),
    buses: listOf(
      closed('One logical bus', {
        name: line('Name', { pattern: NAME, expected: 'a name of letters, digits, - and _' }),
        dbc: Type.Optional(listOf(line('DBC file, relative to this profile'), 0, 'DBC files that describe the bus')),
        obd: Type.Optional(obd),
        gnss: Type.Optional(truth('The receiver; its signals are GNSS.latitude and so on')),
        values: Type.Optional(
          truth('Tables of values, such as CSV files of a phone, for replay; signals are VALUES.Column_name'),
        ),
      }),
      1,
      'Logical buses of the car',
    ),
    constants: Type.Optional(keyed(PATH, fixedValue, 'Facts that never change, by Status path', 'a Status path')),
    status: keyed(PATH, oneOrList(source), 'Sources by Status path; of a list the first has priority', 'a Status path'),
    signals: signalsSchema,
    telemetry: Type.Optional(keyed(PATH, telemetryRule, 'By Status path, and `default`', 'a Status path or `default`')),
    waypoints: Type.Optional(
      closed('Conditions for a waypoint', {
        interval: Type.Optional(duration('Longest time between points while moving')),
        distance: Type.Optional(
          number('Longest distance between points, m', { exclusiveMinimum: 0, maximum: 100_000 }),
        ),
        heading: Type.Optional(
          number('Turn after which a point is set, degrees', { exclusiveMinimum: 0, maximum: 180 }),
        ),
        error: Type.Optional(
          number('Largest distance of the path from the line between two points, m', {
            exclusiveMinimum: 0,
            maximum: 10_000,
          }),
        ),
      }),
    ),
    alerts: Type.Optional(
      keyed('^[A-Za-z0-9]{1,100}$', alert, 'Warnings of the car, by type of the interface', 'a type of alert'),
    ),
    controlUnits: Type.Optional(
      listOf(controlUnitSchema, 1, 'Control units whose fault codes are read by UDS (ISO 14229-1, service 19)'),
    ),
    faultCodes: Type.Optional(
      keyed(
        '^[PCBU][0-3][0-9A-F]{3}(-[0-9A-F]{2})?$',
        line('Meaning', {
          pattern: '^[^\\u0000-\\u001f\\u007f]{1,256}$',
          expected: 'a text of at most 256 characters',
        }),
        'Texts of fault codes, by code; Vigie has none of its own',
        'a fault code such as P0301 or P0301-1C',
      ),
    ),
    maintenance: channelSection('maintenance', 'When the car is due for service'),
    collision: channelSection('collision', 'The car’s own report of a crash'),
    acceleration: channelSection('acceleration', 'Accelerometer, m/s²'),
    key: channelSection('key', 'Whether somebody has a key'),
    horn: channelSection('horn', 'The horn, by which a command is confirmed'),
    immobilizer: channelSection('immobilizer', 'The immobilizer, by which a command is confirmed'),
    navigation: channelSection('navigation', 'The navigation, by which a command is confirmed'),
    trips: Type.Optional(
      closed('Limits for begin and end of a trip', {
        grace: Type.Optional(duration('A shorter stop belongs to the trip')),
        moving: Type.Optional(number('The car moves above this, km/h', { exclusiveMinimum: 0, maximum: 50 })),
        silence: Type.Optional(duration('Silence of the car after which an open trip lacks data')),
      }),
    ),
    impact: Type.Optional(
      closed('When acceleration is a collision', {
        threshold: Type.Optional(
          number('Acceleration from which an impact is looked at, m/s²', { exclusiveMinimum: 0, maximum: 1000 }),
        ),
        speedChange: Type.Optional(
          number('Change of speed that is a collision, km/h', { exclusiveMinimum: 0, maximum: 200 }),
        ),
        before: Type.Optional(duration('Time of readings before the impact')),
        after: Type.Optional(duration('Time of readings after the impact')),
      }),
    ),
    captures: capturesSchema,
    theft: Type.Optional(
      closed('Limits with which the car itself detects a theft', {
        distance: Type.Optional(
          number('Distance without key that counts as a theft, m', { exclusiveMinimum: 0, maximum: 100_000 }),
        ),
        within: Type.Optional(duration('Longest time from the alarm to the movement')),
      }),
    ),
    commands: Type.Optional(
      keyed(
        NAME,
        keyed(NAME, command, 'Actions by name', 'a name of letters, digits, - and _'),
        'By kind and action',
        'a name of letters, digits, - and _',
      ),
    ),
  },
);

export type ProfileInput = Static<typeof profileSchema>;
export type SourceInput = Static<typeof source>;
export type ObdBusInput = Static<typeof obd>;
export type AlertInput = Static<typeof alert>;
export type TelemetryInput = Static<typeof telemetryRule>;
export type CommandInput = Static<typeof command>;
export type SendInput = Static<typeof send>;
export type ConfirmInput = Static<typeof confirm>;
export type RequirementInput = Static<typeof requirement>;
export type ChecksumInput = Static<typeof checksum>;
