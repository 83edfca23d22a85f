/** Content of `/vigie/v1/bus`: frames on the buses by identifier, and values of signals over time. */
import type { Static } from 'typebox';
import * as Type from 'typebox';

/** Event `privacy`. */
export const busPrivacySchema = Type.Object({
  shown: Type.Boolean({ description: 'False: the car sends nothing of the buses; forget what came before.' }),
  reason: Type.Optional(Type.String({ description: 'Why nothing is sent, for people.' })),
});

export const busSignalSchema = Type.Object({
  name: Type.String(),
  unit: Type.String(),
  bits: Type.Array(Type.Integer(), {
    description:
      'Bits of the payload, byte × 8 + bit within the byte (bit 0 is the least significant), lowest bit of the value first.',
  }),
  factor: Type.Number({ description: 'Physical value = raw value × factor + offset.' }),
  offset: Type.Number(),
  choices: Type.Optional(
    Type.Array(Type.Object({ raw: Type.Number(), name: Type.String() }), {
      description: 'Raw values that have a name.',
    }),
  ),
  multiplexor: Type.Optional(Type.Boolean({ description: 'It selects other signals of the message.' })),
  selectedBy: Type.Optional(Type.String({ description: 'The signal that selects this one.' })),
  comment: Type.Optional(Type.String()),
});

export const busIdentifierSchema = Type.Object({
  key: Type.Integer({ description: 'Names the identifier in `frames`.' }),
  bus: Type.String(),
  id: Type.Integer({ description: 'CAN identifier, without flag bits.' }),
  extended: Type.Boolean({ description: 'A 29-bit identifier.' }),
  message: Type.Optional(Type.String({ description: 'Message of the DBC; absent: no DBC of the profile has it.' })),
  sender: Type.Optional(Type.String({ description: 'Control unit that sends the message, by the DBC.' })),
  every: Type.Optional(Type.Number({ description: 'Period that the DBC gives. Unit: ms.' })),
  comment: Type.Optional(Type.String()),
  signals: Type.Array(busSignalSchema),
});

/** Event `identifiers`. */
export const busIdentifiersSchema = Type.Object({
  anew: Type.Boolean({ description: 'Forget all identifiers that came before.' }),
  identifiers: Type.Array(busIdentifierSchema, { description: 'Those that this stream was not told of yet.' }),
  left: Type.Optional(Type.Boolean({ description: 'The buses have more identifiers than the car lists.' })),
});

export const busRowSchema = Type.Object({
  key: Type.Integer(),
  count: Type.Integer({ description: 'Frames since somebody began to follow.' }),
  period: Type.Optional(Type.Number({ description: 'Smoothed time between two frames. Unit: ms.' })),
  length: Type.Integer({ description: 'Length of the last payload. Unit: bytes.' }),
  data: Type.String({ description: 'The last payload, hexadecimal.' }),
  changed: Type.String({
    description: 'Bits that changed since the event before, as a mask of the payload, hexadecimal.',
  }),
});

/** Event `frames`. */
export const busFramesSchema = Type.Object({
  at: Type.Number({ description: 'UTC ms.' }),
  frames: Type.Array(busRowSchema, { description: 'Identifiers of which a frame came since the event before.' }),
});

/** Event `values`. */
export const busValuesSchema = Type.Object({
  values: Type.Array(
    Type.Object({
      signal: Type.Integer({ description: 'Place in the request, 0 first.' }),
      at: Type.Number({ description: 'Time of the frame. UTC ms.' }),
      value: Type.Number({ description: 'Physical value.' }),
    }),
    { description: 'The newest value of each signal of which a frame came.' },
  ),
});

export type BusPrivacy = Static<typeof busPrivacySchema>;
export type BusSignal = Static<typeof busSignalSchema>;
export type BusIdentifier = Static<typeof busIdentifierSchema>;
export type BusIdentifiers = Static<typeof busIdentifiersSchema>;
export type BusRow = Static<typeof busRowSchema>;
export type BusFrames = Static<typeof busFramesSchema>;
export type BusValues = Static<typeof busValuesSchema>;
