/** The lines of NDJSON that `vigie inspect` prints, one schema for each `kind`. */
import * as Type from 'typebox';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const milliseconds = (description: string) => Type.Number({ minimum: 0, description: `${description}, ms` });
const time = (description: string) => Type.Number({ description: `${description}, UTC milliseconds with fraction` });
const hex = (description: string) => Type.String({ pattern: '^([0-9a-f]{2})*$', description });
const bus = Type.String({ description: 'name of the bus in the log' });
const id = Type.Integer({ minimum: 0, maximum: 0x1fff_ffff, description: 'identifier without flags' });
const extended = Type.Boolean({ description: 'the identifier has 29 bits' });

export const busLine = Type.Object(
  {
    kind: Type.Literal('bus'),
    bus,
    frames: count('data frames'),
    remotes: count('remote frames'),
    errors: count('error frames'),
    identifiers: count('identifiers that were seen, 11-bit and 29-bit ones apart'),
    first: time('earliest frame'),
    last: time('latest frame'),
  },
  { additionalProperties: false, description: 'a bus' },
);

export const identifierLine = Type.Object(
  {
    kind: Type.Literal('identifier'),
    bus,
    id,
    extended,
    message: Type.Optional(Type.String({ description: 'name of the message in the first DBC that has it' })),
    frames: count('data frames'),
    share: Type.Number({ minimum: 0, maximum: 1, description: 'of the data frames of its bus' }),
    remotes: count('remote frames'),
    fdFrames: count('data frames in CAN FD format'),
    changes: count('data frames whose payload differs from that of the frame before'),
    first: Type.Optional(time('first data frame')),
    last: Type.Optional(time('latest data frame')),
    period: Type.Optional(
      Type.Object(
        {
          median: milliseconds('median of the time between two frames'),
          jitter: milliseconds('half of the span from the 5th to the 95th percentile'),
          minimum: milliseconds('shortest'),
          maximum: milliseconds('longest'),
        },
        { additionalProperties: false, description: 'time between two frames' },
      ),
    ),
    lengths: Type.Record(Type.String({ pattern: '^[0-9]+$' }), count('frames'), {
      description: 'number of frames by payload length in bytes',
    }),
    changed: hex('mask of the bits that changed, in the order of the payload'),
    latest: hex('latest value of each byte'),
  },
  { additionalProperties: false, description: 'an identifier on a bus' },
);

export type BusLine = Type.Static<typeof busLine>;
export type IdentifierLine = Type.Static<typeof identifierLine>;
