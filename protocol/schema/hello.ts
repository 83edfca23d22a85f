import { helloCollectSchema } from './collect.ts';
import { count } from './count.ts';
import { enumeration, instant, list, optional, quantity, record, required, type Static, text } from './fields.ts';
import { commandKinds } from './remote.ts';

const seconds = (description: string) => quantity('s', 1, [0], description);
const size = (unit: string, description: string) => quantity(unit, 1, [0], description);

/** States of the link to the broker (adapters/mqtt/health.ts contains the transitions). */
export const linkStates = ['closed', 'dialing', 'connecting', 'subscribing', 'up', 'waiting', 'closing'] as const;
export type LinkState = (typeof linkStates)[number];

/** Health of the agent; counts are since its start, and fields with the value 0 are omitted. */
export const helloHealthSchema = record('HelloHealth', 'How the agent fares.', {
  uptime: required(1, seconds('Time since the start.')),
  memory: required(2, size('KiB', 'Memory that no other process shares, or the resident one where that is not known.')),
  cpu: required(3, seconds('Processor time since the start.')),
  frames: optional(4, count('Frames read from all buses.')),
  dropped: optional(5, count('Frames lost before they were read, or not of their format.')),
  refused: optional(6, count('Readings with an impossible value.')),
  faults: optional(7, count('Defects that prevented the processing of a batch or a tick.')),
  sent: optional(8, size('B', 'Payload that the broker acknowledged.')),
  written: optional(9, size('B', 'Written to the journal.')),
  delay: optional(10, size('ms', 'Longest delay of the event loop in the last two minutes.')),
  connections: optional(11, count('Number of established connections.')),
  stuck: optional(12, text('Why the pipeline counts as stuck.')),
  sources: optional(
    13,
    list(
      'Sources of the agent.',
      record('HelloSource', 'One source of frames or readings.', {
        name: required(1, text('Bus of the profile that it feeds.', { maxLength: 64 })),
        state: required(2, enumeration('Its activity.', ['opening', 'running', 'waiting'])),
        reason: optional(3, text('Why it waits.', { maxLength: 128 })),
        silence: optional(4, seconds('Since it delivered; absent: it never did.')),
        dropped: optional(5, count('Frames lost.')),
      }),
      { maxItems: 32 },
    ),
  ),
  outbox: optional(
    14,
    list(
      'Messages not yet acknowledged; empty classes are left out.',
      record('HelloOutbox', 'Waiting messages of one priority class.', {
        class: required(1, count('Priority class (protocol/classes.ts).')),
        count: required(2, count('Messages that wait.')),
        bytes: required(3, size('B', 'Their payload.')),
        oldest: optional(4, seconds('Age of the oldest.')),
      }),
      { maxItems: 16 },
    ),
  ),
  commands: optional(
    15,
    list(
      'Results of commands.',
      record('HelloCommands', 'Commands with one outcome.', {
        outcome: required(1, text('Success, AlreadyDone or the cause of the failure.', { maxLength: 64 })),
        count: required(2, count('Commands that ended so.')),
      }),
      { maxItems: 32 },
    ),
  ),
  link: optional(
    16,
    record('HelloLink', 'The connection to the broker.', {
      state: optional(1, enumeration('State of the connection; absent: up.', linkStates)),
      broker: optional(2, text('Address that is used, or was last.', { maxLength: 128 })),
      protocol: optional(3, enumeration('MQTT version that is spoken.', ['3.1.1', '5'])),
      keepalive: required(4, seconds('Present keep-alive, adapted to the network.')),
      losses: optional(5, count('Times it was lost while up.')),
      certificateExpires: optional(
        6,
        // Not an instant: it is not from the car's clock, and is not corrected with it.
        quantity('ms', 1, [], 'When the certificate of the car expires, UTC since 1970.'),
      ),
    }),
  ),
});
export type HelloHealth = Static<typeof helloHealthSchema>;
export type HelloLink = NonNullable<HelloHealth['link']>;

/** Outcomes of a configuration that was sent to the car. */
const configurationStates = ['local', 'trial', 'applied', 'returned', 'superseded'] as const;

export const helloConfigurationSchema = record('HelloConfiguration', 'Which configuration is in effect, and why.', {
  generation: required(1, count('Number of the configuration that is in effect; 0: the file on the unit.')),
  state: required(
    2,
    enumeration(
      'local: the file on the unit; trial: sent, and not proven yet (detail: why); applied: sent, and the car reached the broker and reads what it read before; returned: the one that was sent did not work, the last good one is in effect; superseded: the file on the unit was changed and is in effect.',
      configurationStates,
    ),
  ),
  detail: optional(3, text('The same for people.')),
  digest: optional(
    4,
    text(
      'Which one was sent, with trial, applied and returned: the first 16 bytes of SHA-256 over the body of its command, hexadecimal.',
      { maxLength: 32 },
    ),
  ),
});
export type HelloConfiguration = Static<typeof helloConfigurationSchema>;

const powerStates = ['active', 'standby', 'asleep'] as const;

const helloPowerSchema = record('HelloPower', 'Cost of being awake and asleep since the start of the agent.', {
  state: required(1, enumeration('Whether car and unit are awake.', powerStates)),
  wakeUps: required(2, count('Times the car woke the unit.')),
  wokenByMessages: required(3, count('Times a message of a trusted sender did.')),
  wokenByPrograms: required(4, count('Number of wake-ups by a due program of the car.')),
  awake: required(5, seconds('Time awake.')),
  asleep: required(6, seconds('Time asleep.')),
  sleepBytes: optional(
    7,
    size('B', 'Bytes sent to and received from the broker while asleep, without TLS and the layers below.'),
  ),
});

export const helloNumbersSchema = record('HelloNumbers', 'How far one priority class was sent.', {
  class: required(1, count('Priority class (protocol/classes.ts).')),
  first: required(2, count('First number that this start of the agent gives out.')),
  below: required(
    3,
    count('The broker has acknowledged each message with a lower number, or the car has given it up.'),
  ),
});
export type HelloNumbers = Static<typeof helloNumbersSchema>;

/** Largest number of keys in a `hello`; a car that trusts more does not report them. */
export const MAX_REPORTED_KEYS = 64;

const helloKeySchema = record('HelloKey', 'A key whose commands the car accepts.', {
  id: required(1, text('Id of the key, hexadecimal.', { maxLength: 16 })),
  kinds: required(2, list('Kinds of command that it may sign.', enumeration('Kind of command.', commandKinds))),
});
export type HelloKey = Static<typeof helloKeySchema>;

export const helloMissingSchema = record('HelloMissing', 'A file or folder that is missing.', {
  file: required(1, text('Name in the folder of the records.', { maxLength: 64 })),
  consequence: required(2, text('Its consequence, for people.', { maxLength: 256 })),
});
export type HelloMissing = Static<typeof helloMissingSchema>;

/**
 * Body of a `hello` message: one at each connection, another once the time is known, and occasionally a report of the
 * agent's health.
 */
export const helloSchema = record('Hello', 'Who speaks.', {
  version: required(1, text('Version of the agent, e.g. 1.4.0.', { maxLength: 64 })),
  protocol: required(2, count('Protocol version it speaks.', { minimum: 1 })),
  boot: required(3, count('Number of this start of the agent, as in the envelope.')),
  profile: required(4, text('Vehicle profile it works with, with the version of the profile.')),
  startedAt: required(5, instant('When it was started.')),
  behind: optional(
    6,
    quantity(
      'ms',
      1,
      [],
      'The car now knows the time: add this to every time in the messages of this boot with clock none. Records among them are sent again, corrected.',
    ),
  ),
  mode: optional(
    7,
    enumeration(
      'minimal: nothing is read and recorded, because the agent did not stay up or the disk does not return its records; absent: normal.',
      ['normal', 'minimal'],
    ),
  ),
  reason: optional(8, text('Why it is in minimal mode, or how the run before ended.')),
  health: optional(9, helloHealthSchema),
  configuration: optional(10, helloConfigurationSchema),
  power: optional(11, helloPowerSchema),
  trust: optional(12, text('Why commands of its trusted keys are refused; absent: they are taken.')),
  carVin: optional(
    13,
    text('The vehicle identification number that the car reports, if it differs from the configured one.', {
      maxLength: 17,
    }),
  ),
  collect: optional(14, helloCollectSchema),
  numbers: optional(
    15,
    list('How far each class was sent; a class of which no number was given out is left out.', helloNumbersSchema, {
      maxItems: 16,
    }),
  ),
  missing: optional(
    16,
    list('Files that were missing in the folder of the records at this start; absent: none.', helloMissingSchema, {
      maxItems: 16,
    }),
  ),
  runtime: optional(17, text('The Node.js that runs the agent, with the end of its support.', { maxLength: 64 })),
  keys: optional(
    18,
    list(
      'Keys whose commands the car accepts, in the first hello of a boot and after a change; absent: those of the hello before.',
      helloKeySchema,
      { maxItems: MAX_REPORTED_KEYS },
    ),
  ),
});
export type Hello = Static<typeof helloSchema>;
