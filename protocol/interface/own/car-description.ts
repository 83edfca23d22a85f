/** Content of `/vigie/v1/car`: the car, and unit and source of each value of Status. */
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { type LinkState, linkStates } from '../../schema/hello.ts';

const signalBits = Type.Object(
  {
    start: Type.Integer({ description: 'Bit number as in a DBC: byte × 8 + bit within the byte.' }),
    length: Type.Integer({ description: 'Bits.' }),
    byteOrder: Type.Union([Type.Literal('little'), Type.Literal('big')]),
    factor: Type.Number({ description: 'Physical value = raw value × factor + offset.' }),
    offset: Type.Number(),
  },
  { description: 'Where the value lies in the frame, from the DBC.' },
);

export const valueSourceSchema = Type.Object({
  bus: Type.Optional(Type.String({ description: 'Bus of the profile.' })),
  message: Type.String({ description: 'Message of the DBC, command of the signal set, or sentence of the receiver.' }),
  signal: Type.String(),
  id: Type.Optional(Type.Integer({ description: 'CAN identifier, without flag bits.' })),
  extended: Type.Optional(Type.Boolean({ description: 'A 29-bit identifier.' })),
  every: Type.Optional(Type.Number({ description: 'Period that the DBC gives. Unit: ms.' })),
  sender: Type.Optional(Type.String({ description: 'Control unit that sends the message, by the DBC.' })),
  bits: Type.Optional(signalBits),
  scale: Type.Number({ description: 'Value = physical value × scale + shift.' }),
  shift: Type.Number(),
  staleAfter: Type.Optional(Type.Number({ description: 'Silence after which the value is stale. Unit: ms.' })),
});

export const valueDescriptionSchema = Type.Object({
  path: Type.String({ description: 'Path of Status.' }),
  kind: Type.String({ description: 'quantity, flag, enumeration, set, text, instant or value.' }),
  unit: Type.Optional(Type.String()),
  resolution: Type.Optional(Type.Number({ description: 'Smallest step.' })),
  constant: Type.Optional(Type.Boolean({ description: 'The profile states the value.' })),
  sources: Type.Array(valueSourceSchema, {
    description:
      'Sources of the profile, the first that speaks wins. Empty: the profile names none; the agent may compute the value.',
  }),
});

const mapTilesSchema = Type.Object(
  {
    url: Type.String({ description: 'Address of a tile in Web Mercator, with {z}, {x} and {y}.' }),
    attribution: Type.Optional(Type.String({ description: 'Words that the map shows, such as its licence.' })),
  },
  {
    description:
      'Where the page loads the tiles of its map. Absent: it draws land and borders and loads nothing from elsewhere.',
  },
);

export const carDescriptionSchema = Type.Object({
  vin: Type.String(),
  title: Type.String({ description: 'Name of the car, or of its profile.' }),
  profile: Type.String(),
  bench: Type.Optional(Type.Boolean({ description: 'True: it is the simulated car of a bench.' })),
  captures: Type.Optional(Type.Boolean({ description: 'True: it has captures (`/vigie/v1/captures`).' })),
  faults: Type.Optional(Type.Boolean({ description: 'True: it reads fault codes (`/vigie/v1/faults`).' })),
  tiles: Type.Optional(mapTilesSchema),
  values: Type.Array(valueDescriptionSchema, { description: 'Every value that Status can have.' }),
});

/** Response of `/vigie/v1/push-key`. */
export const pushKeySchema = Type.Object({
  publicKey: Type.Optional(
    Type.String({
      description:
        'Key that browsers subscribe with (applicationServerKey, RFC 8292 §4.1): P-256, uncompressed, base64url. Absent: `callbacks.push` is not configured.',
    }),
  ),
});

/** Event `link` of `/vigie/v1/agent`. */
export const linkReportSchema = Type.Object({
  state: Type.Unsafe<LinkState>({ type: 'string', enum: linkStates }),
  since: Type.Optional(Type.Number({ description: 'When it entered this state. UTC ms.' })),
  downSince: Type.Optional(
    Type.Number({ description: 'Since when it is not up, whatever it tries meanwhile; absent while it is. UTC ms.' }),
  ),
  broker: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String({ description: 'Why it is not up.' })),
  waiting: Type.Integer({ description: 'Messages that the broker has not acknowledged.' }),
});

export type CarDescription = Static<typeof carDescriptionSchema>;
export type PushKey = Static<typeof pushKeySchema>;
export type MapTiles = Static<typeof mapTilesSchema>;
export type ValueDescription = Static<typeof valueDescriptionSchema>;
export type ValueSource = Static<typeof valueSourceSchema>;
export type LinkReport = Static<typeof linkReportSchema>;
