/** Bodies of commands for the agent itself, not for the car. */

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

/** Sets, pauses, resumes or removes a monitor. */
const monitorOrderSchema = record('MonitorOrder', 'With `monitor`: watch it. Without: set its status, or remove it.', {
  monitorId: required(1, monitorId),
  monitor: optional(2, monitorParameterSchema),
  status: optional(3, monitorStatus),
  remove: optional(4, flag('Take it away.')),
  revision: optional(5, monitorRevision),
});

/** Sets, pauses, resumes or removes a callback. */
const callbackOrderSchema = record(
  'CallbackOrder',
  'With `side` and `subscribe`: add the callback. Without: set its status, or remove it.',
  {
    callbackId: required(1, callbackId),
    side: optional(2, callbackSide),
    subscribe: optional(3, subscribeSchema),
    status: optional(4, callbackStatus),
    remove: optional(5, flag('Take it away.')),
  },
);

const moment = (description: string) => quantity('ms', 1, [0, 8.64e15], description);

/** Adds a key whose commands the car accepts, or revokes a key permanently. */
const trustOrderSchema = record('TrustOrder', 'One of `add` and `revoke`.', {
  add: optional(
    1,
    record('AddedKey', 'A key.', {
      name: required(1, text('For people.', { maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$' })),
      publicKey: required(
        2,
        bytes('SubjectPublicKeyInfo in DER (RFC 5280 §4.1), of P-256 or Ed25519.', { maxLength: 256 }),
      ),
      kinds: required(
        3,
        list(
          'Kinds of command that it may give; a key that may `Trust` is a root key.',
          enumeration('A kind of command.', commandKinds),
          { minItems: 1, maxItems: commandKinds.length },
        ),
      ),
      notBefore: optional(4, moment('Begin of its validity, UTC since 1970.')),
      notAfter: optional(5, moment('When it ceases to be valid, UTC since 1970.')),
    }),
  ),
  revoke: optional(2, bytes('Id of the key that is trusted no more.', { maxLength: 8 })),
});

const sentFileSchema = record('SentFile', 'A file that comes with a configuration.', {
  path: required(
    1,
    text('Relative path, as the configuration or the profile names it.', {
      maxLength: 128,
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_. -]*(/[A-Za-z0-9_][A-Za-z0-9_. -]*)*$',
    }),
  ),
  deflated: required(2, bytes('The contents, compressed as of RFC 1951.', { maxLength: 60_000 })),
});

/** Replaces the whole configuration of the agent. */
export const configurationOrderSchema = record(
  'ConfigurationOrder',
  'A configuration: on trial until the broker is reached with it (docs/operations.md).',
  {
    configuration: required(
      1,
      text(
        'vigie.yaml as it would be on the unit. Relative paths are relative to the file on the unit, but those of `files`; vin and data cannot be changed, and may be left out.',
        { maxLength: 32_768 },
      ),
    ),
    files: optional(
      2,
      list('The profile and the DBC files and signal sets that it names; at most 4 MiB in all.', sentFileSchema, {
        maxItems: 64,
      }),
    ),
    label: optional(
      3,
      text('Chosen by the sender: one that is sent again under another label is tried anew.', { maxLength: 64 }),
    ),
  },
);
export type ConfigurationOrder = Static<typeof configurationOrderSchema>;

/** Requests that the car sends messages again. */
const resendOrderSchema = record(
  'ResendOrder',
  'Messages to be sent again; a `gap` message lists those that the car does not have any more.',
  {
    class: required(1, count('Priority class of the messages (protocol/classes.ts).', { maximum: classes.length - 1 })),
    numbers: required(
      2,
      list(
        'Which messages of the class are to be sent again.',
        tuple<readonly [number, number]>('Numbers without a hole.', 2, [
          count('The first `seq`.'),
          count('The last `seq`.'),
        ]),
        { minItems: 1, maxItems: 256 },
      ),
    ),
  },
);

/** Makes the agent read the fault codes of the car now. */
const readFaultsOrderSchema = record(
  'ReadFaultsOrder',
  'Fault codes are read now; `Success` says that those that were found are recorded.',
  {},
);

const span = (description: string) => quantity('ms', 1, [0, 600_000], description);

/** Captures the raw frames around the current time. */
export const captureOrderSchema = record(
  'CaptureOrder',
  'Raw frames around the moment of the command, within the rule `captures.command` of the profile.',
  {
    name: required(
      1,
      text('Chosen by the sender; `of` of the capture.', { maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' }),
    ),
    before: optional(2, span('Time of frames before the command; absent: that of the rule of the profile.')),
    after: optional(3, span('Time of frames after it; absent: that of the rule.')),
    buses: optional(
      4,
      list(
        'Buses whose frames are captured; absent: those of the rule.',
        text('Bus of the profile.', { maxLength: 128 }),
        { minItems: 1, maxItems: 64 },
      ),
    ),
    identifiers: optional(
      5,
      list(
        'Identifiers whose frames are captured; absent: those of the rule.',
        count('CAN identifier; above 0x7FF it has 29 bits.', { maximum: 0x1fff_ffff }),
        { minItems: 1, maxItems: 512 },
      ),
    ),
  },
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
