import { helloCollectSchema } from './collect.ts';
import { count } from './count.ts';
import { enumeration, instant, list, optional, quantity, record, required, type Static, text } from './fields.ts';

const seconds = (description: string) => quantity({ unit: 's', resolution: 1, minimum: 0, description });
const size = (unit: string, description: string) => quantity({ unit, resolution: 1, minimum: 0, description });

/** Where the link to the broker is in its life (adapters/mqtt/health.ts says what leads where). */
export const linkStates = ['closed', 'dialing', 'connecting', 'subscribing', 'up', 'waiting', 'closing'] as const;
export type LinkState = (typeof linkStates)[number];

/** How the agent fares; counts are since its start, and a member that would be 0 is left out. */
export const helloHealthSchema = record(
  'HelloHealth',
  {
    uptime: required(1, seconds('Time since the start.')),
    memory: required(
      2,
      size('KiB', 'Memory that no other process shares, or the resident one where that is not known.'),
    ),
    cpu: required(3, seconds('Processor time since the start.')),
    frames: optional(4, count('Frames read from all buses.')),
    dropped: optional(5, count('Frames lost before they were read, or not of their format.')),
    refused: optional(6, count('Readings with an impossible value.')),
    faults: optional(7, count('Defects that prevented the processing of a batch or a tick.')),
    sent: optional(8, size('B', 'Payload that the broker acknowledged.')),
    written: optional(9, size('B', 'Written to the journal.')),
    delay: optional(10, size('ms', 'Longest delay of the event loop in the last two minutes.')),
    connections: optional(11, count('Number of established connections.')),
    stuck: optional(12, text({ description: 'Why the pipeline counts as stuck.' })),
    sources: optional(
      13,
      list(
        record(
          'HelloSource',
          {
            name: required(1, text({ maxLength: 64, description: 'Bus of the profile that it feeds.' })),
            state: required(2, enumeration(['opening', 'running', 'waiting'], { description: 'Its activity.' })),
            reason: optional(3, text({ maxLength: 128, description: 'Why it waits.' })),
            silence: optional(4, seconds('Since it delivered; absent: it never did.')),
            dropped: optional(5, count('Frames lost.')),
          },
          { description: 'One source of frames or readings.' },
        ),
        { maxItems: 32, description: 'Sources of the agent.' },
      ),
    ),
    outbox: optional(
      14,
      list(
        record(
          'HelloOutbox',
          {
            class: required(1, count('Priority class (protocol/classes.ts).')),
            count: required(2, count('Messages that wait.')),
            bytes: required(3, size('B', 'Their payload.')),
            oldest: optional(4, seconds('Age of the oldest.')),
          },
          { description: 'Waiting messages of one priority class.' },
        ),
        { maxItems: 16, description: 'Messages not yet acknowledged; empty classes are left out.' },
      ),
    ),
    commands: optional(
      15,
      list(
        record(
          'HelloCommands',
          {
            outcome: required(
              1,
              text({ maxLength: 64, description: 'Success, AlreadyDone or the cause of the failure.' }),
            ),
            count: required(2, count('Commands that ended so.')),
          },
          { description: 'Commands with one outcome.' },
        ),
        { maxItems: 32, description: 'Results of commands.' },
      ),
    ),
    link: optional(
      16,
      record(
        'HelloLink',
        {
          state: optional(1, enumeration(linkStates, { description: 'State of the connection; absent: up.' })),
          broker: optional(2, text({ maxLength: 128, description: 'Address that is used, or was last.' })),
          protocol: optional(3, enumeration(['3.1.1', '5'], { description: 'MQTT version that is spoken.' })),
          keepalive: required(4, seconds('Present keep-alive, adapted to the network.')),
          losses: optional(5, count('Times it was lost while up.')),
          certificateExpires: optional(
            6,
            // Not an instant: it does not come from the clock of the car, and is not corrected with it.
            quantity({
              unit: 'ms',
              resolution: 1,
              description: 'When the certificate of the car expires, UTC since 1970.',
            }),
          ),
        },
        { description: 'The connection to the broker.' },
      ),
    ),
  },
  { description: 'How the agent fares.' },
);
export type HelloHealth = Static<typeof helloHealthSchema>;
export type HelloLink = NonNullable<HelloHealth['link']>;

/** What has become of a configuration that was sent to the car. */
const configurationStates = ['local', 'trial', 'applied', 'returned', 'superseded'] as const;

export const helloConfigurationSchema = record(
  'HelloConfiguration',
  {
    generation: required(1, count('Number of the configuration that is in effect; 0: the file on the unit.')),
    state: required(
      2,
      enumeration(configurationStates, {
        description:
          'local: the file on the unit; trial: sent, the broker not reached with it yet; applied: sent and proven; returned: the one that was sent did not work, the last good one is in effect; superseded: the file on the unit was changed and is in effect.',
      }),
    ),
    detail: optional(3, text({ description: 'The same for people.' })),
    digest: optional(
      4,
      text({
        maxLength: 32,
        description:
          'Which one was sent, with trial, applied and returned: the first 16 bytes of SHA-256 over the body of its command, hexadecimal.',
      }),
    ),
  },
  { description: 'Which configuration is in effect, and why.' },
);
export type HelloConfiguration = Static<typeof helloConfigurationSchema>;

const powerStates = ['active', 'standby', 'asleep'] as const;

const helloPowerSchema = record(
  'HelloPower',
  {
    state: required(1, enumeration(powerStates, { description: 'Whether car and unit are awake.' })),
    wakeUps: required(2, count('Times the car woke the unit.')),
    wokenByMessages: required(3, count('Times a message of a trusted sender did.')),
    wokenByPrograms: required(4, count('Number of wake-ups by a due program of the car.')),
    awake: required(5, seconds('Time awake.')),
    asleep: required(6, seconds('Time asleep.')),
    sleepBytes: optional(
      7,
      size('B', 'Bytes sent to and received from the broker while asleep, without TLS and the layers below.'),
    ),
  },
  { description: 'Cost of being awake and asleep since the start of the agent.' },
);

export const helloNumbersSchema = record(
  'HelloNumbers',
  {
    class: required(1, count('Priority class (protocol/classes.ts).')),
    first: required(2, count('First number that this start of the agent gives out.')),
    below: required(
      3,
      count('The broker has acknowledged each message with a lower number, or the car has given it up.'),
    ),
  },
  { description: 'How far one priority class was sent.' },
);
export type HelloNumbers = Static<typeof helloNumbersSchema>;

export const helloMissingSchema = record(
  'HelloMissing',
  {
    file: required(1, text({ maxLength: 64, description: 'Name in the folder of the records.' })),
    consequence: required(2, text({ maxLength: 256, description: 'Its consequence, for people.' })),
  },
  { description: 'A file or folder that is missing.' },
);
export type HelloMissing = Static<typeof helloMissingSchema>;

/**
 * Body of a `hello` message: one at each connection, another when the time became known, and now and then how the agent
 * fares.
 */
export const helloSchema = record(
  'Hello',
  {
    version: required(1, text({ maxLength: 64, description: 'Version of the agent, e.g. 1.4.0.' })),
    protocol: required(2, count('Protocol version it speaks.', { minimum: 1 })),
    boot: required(3, count('Number of this start of the agent, as in the envelope.')),
    profile: required(4, text({ description: 'Vehicle profile it works with, with the version of the profile.' })),
    startedAt: required(5, instant({ description: 'When it was started.' })),
    behind: optional(
      6,
      quantity({
        unit: 'ms',
        resolution: 1,
        description:
          'The car now knows the time: add this to every time in the messages of this boot with clock none. Records among them are sent again, corrected.',
      }),
    ),
    mode: optional(
      7,
      enumeration(['normal', 'minimal'], {
        description:
          'minimal: nothing is read and recorded, because the agent did not stay up or the disk does not return its records; absent: normal.',
      }),
    ),
    reason: optional(8, text({ description: 'Why it is in minimal mode, or how the run before ended.' })),
    health: optional(9, helloHealthSchema),
    configuration: optional(10, helloConfigurationSchema),
    power: optional(11, helloPowerSchema),
    trust: optional(12, text({ description: 'Why commands of its trusted keys are refused; absent: they are taken.' })),
    carVin: optional(
      13,
      text({
        maxLength: 17,
        description: 'The vehicle identification number that the car reports, if it differs from the configured one.',
      }),
    ),
    collect: optional(14, helloCollectSchema),
    numbers: optional(
      15,
      list(helloNumbersSchema, {
        maxItems: 16,
        description: 'How far each class was sent; a class of which no number was given out is left out.',
      }),
    ),
    missing: optional(
      16,
      list(helloMissingSchema, {
        maxItems: 16,
        description: 'Files that were missing in the folder of the records at this start; absent: none.',
      }),
    ),
    runtime: optional(
      17,
      text({ maxLength: 64, description: 'The Node.js that runs the agent, with the end of its support.' }),
    ),
  },
  { description: 'Who speaks.' },
);
export type Hello = Static<typeof helloSchema>;
