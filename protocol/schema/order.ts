/** Bodies of the commands that are about the agent itself, not about the car. */

import { classes } from '../classes.ts';
import { callbackId, callbackSide, callbackStatus, subscribeSchema } from './callback.ts';
import { collectOrderSchema } from './collect.ts';
import { count } from './count.ts';
import {
  bytes,
  enumeration,
  flag,
  list,
  optional,
  quantity,
  record,
  required,
  type Static,
  type TSchema,
  text,
  tuple,
} from './fields.ts';
import { monitorParameterSchema } from './monitor/parameter.ts';
import { monitorId, monitorRevision, monitorStatus } from './monitor.ts';
import { commandKinds } from './remote.ts';

/** Gives a monitor, pauses it or lets it watch again, or takes it away. */
const monitorOrderSchema = record(
  'MonitorOrder',
  {
    monitorId: required(1, monitorId),
    monitor: optional(2, monitorParameterSchema),
    status: optional(3, monitorStatus),
    remove: optional(4, flag({ description: 'Take it away.' })),
    revision: optional(5, monitorRevision),
  },
  { description: 'With `monitor`: watch it. Without: set its status, or remove it.' },
);

/** Gives a callback, pauses it or lets it run again, or takes it away. */
const callbackOrderSchema = record(
  'CallbackOrder',
  {
    callbackId: required(1, callbackId),
    side: optional(2, callbackSide),
    subscribe: optional(3, subscribeSchema),
    status: optional(4, callbackStatus),
    remove: optional(5, flag({ description: 'Take it away.' })),
  },
  { description: 'With `side` and `subscribe`: add the callback. Without: set its status, or remove it.' },
);

const moment = (description: string) =>
  quantity({ unit: 'ms', resolution: 1, minimum: 0, maximum: 8.64e15, description });

/** Adds a key whose commands the car obeys, or takes one away for ever. */
const trustOrderSchema = record(
  'TrustOrder',
  {
    add: optional(
      1,
      record(
        'AddedKey',
        {
          name: required(
            1,
            text({ maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$', description: 'For people.' }),
          ),
          publicKey: required(
            2,
            bytes({ maxLength: 256, description: 'SubjectPublicKeyInfo in DER (RFC 5280 §4.1), of P-256 or Ed25519.' }),
          ),
          kinds: required(
            3,
            list(enumeration(commandKinds, { description: 'A kind of command.' }), {
              minItems: 1,
              maxItems: commandKinds.length,
              description: 'Kinds of command that it may give; a key that may `Trust` is a root key.',
            }),
          ),
          notBefore: optional(4, moment('Begin of its validity, UTC since 1970.')),
          notAfter: optional(5, moment('When it ceases to be valid, UTC since 1970.')),
        },
        { description: 'A key.' },
      ),
    ),
    revoke: optional(2, bytes({ maxLength: 8, description: 'Id of the key that is trusted no more.' })),
  },
  { description: 'One of `add` and `revoke`.' },
);

const sentFileSchema = record(
  'SentFile',
  {
    path: required(
      1,
      text({
        maxLength: 128,
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_. -]*(/[A-Za-z0-9_][A-Za-z0-9_. -]*)*$',
        description: 'Relative path, as the configuration or the profile names it.',
      }),
    ),
    deflated: required(2, bytes({ maxLength: 60_000, description: 'The contents, compressed as of RFC 1951.' })),
  },
  { description: 'A file that comes with a configuration.' },
);

/** Gives the agent another configuration, whole. */
export const configurationOrderSchema = record(
  'ConfigurationOrder',
  {
    configuration: required(
      1,
      text({
        maxLength: 32_768,
        description:
          'vigie.yaml as it would be on the unit. Relative paths are relative to the file on the unit, but those of `files`; vin and data cannot be changed, and may be left out.',
      }),
    ),
    files: optional(
      2,
      list(sentFileSchema, {
        maxItems: 64,
        description: 'The profile and the DBC files and signal sets that it names; at most 4 MiB in all.',
      }),
    ),
    label: optional(
      3,
      text({
        maxLength: 64,
        description: 'Chosen by the sender: one that is sent again under another label is tried anew.',
      }),
    ),
  },
  { description: 'A configuration: on trial until the broker is reached with it (docs/operations.md).' },
);
export type ConfigurationOrder = Static<typeof configurationOrderSchema>;

/** Asks for messages again that the car has sent. */
const resendOrderSchema = record(
  'ResendOrder',
  {
    class: required(1, count('Priority class of the messages (protocol/classes.ts).', { maximum: classes.length - 1 })),
    numbers: required(
      2,
      list(
        tuple<readonly [number, number]>([count('The first `seq`.'), count('The last `seq`.')], {
          required: 2,
          description: 'Numbers without a hole.',
        }),
        { minItems: 1, maxItems: 256, description: 'Which messages of the class are to be sent again.' },
      ),
    ),
  },
  { description: 'Messages to be sent again; a `gap` message lists those that the car does not have any more.' },
);

/** Has the agent read the fault codes of the car now. */
const readFaultsOrderSchema = record(
  'ReadFaultsOrder',
  {},
  { description: 'Fault codes are read now; `Success` says that those that were found are recorded.' },
);

const span = (description: string) =>
  quantity({ unit: 'ms', resolution: 1, minimum: 0, maximum: 600_000, description });

/** Has the agent capture the raw frames around this moment. */
export const captureOrderSchema = record(
  'CaptureOrder',
  {
    name: required(
      1,
      text({ maxLength: 64, pattern: '^[A-Za-z0-9_-]+$', description: 'Chosen by the sender; `of` of the capture.' }),
    ),
    before: optional(2, span('Time of frames before the command; absent: that of the rule of the profile.')),
    after: optional(3, span('Time of frames after it; absent: that of the rule.')),
    buses: optional(
      4,
      list(text({ maxLength: 128, description: 'Bus of the profile.' }), {
        minItems: 1,
        maxItems: 64,
        description: 'Buses whose frames are captured; absent: those of the rule.',
      }),
    ),
    identifiers: optional(
      5,
      list(count('CAN identifier; above 0x7FF it has 29 bits.', { maximum: 0x1fff_ffff }), {
        minItems: 1,
        maxItems: 512,
        description: 'Identifiers whose frames are captured; absent: those of the rule.',
      }),
    ),
  },
  { description: 'Raw frames around the moment of the command, within the rule `captures.command` of the profile.' },
);
export type CaptureOrder = Static<typeof captureOrderSchema>;

/** Bodies by kind of command. */
export const orderBodies = {
  Configuration: configurationOrderSchema,
  Monitor: monitorOrderSchema,
  Callback: callbackOrderSchema,
  Trust: trustOrderSchema,
  Resend: resendOrderSchema,
  Collect: collectOrderSchema,
  ReadFaults: readFaultsOrderSchema,
  Capture: captureOrderSchema,
} as const satisfies Record<string, TSchema>;
