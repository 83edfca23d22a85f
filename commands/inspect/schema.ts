/** The lines of NDJSON that `vigie inspect` prints: one schema for each `kind`. */
import * as Type from 'typebox';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const milliseconds = (description: string) => Type.Number({ minimum: 0, description: `${description}, ms` });
const time = (description: string) => Type.Number({ description: `${description}, UTC milliseconds with fraction` });
const hex = (description: string) => Type.String({ pattern: '^([0-9a-f]{2})*$', description });
const value = (description: string) =>
  Type.Union([Type.Number(), Type.Enum(['nan', 'inf', '-inf'])], { description: `${description}, physical` });
const byte = (description: string) => Type.Integer({ minimum: 0, maximum: 255, description });
const unseen = <T extends Type.TSchema>(type: T) => Type.Union([type, Type.Null()]);
const start = Type.Integer({
  minimum: 0,
  maximum: 511,
  description: 'lowest bit: byte × 8 + bit within the byte',
});
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
    identifiers: count('number of identifiers, 11-bit and 29-bit ones counted separately'),
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
    messageLength: Type.Optional(count('payload length in the DBC, in bytes')),
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
    counters: Type.Array(
      Type.Object(
        {
          start,
          bits: Type.Integer({ minimum: 2, maximum: 8, description: 'width' }),
          modulus: Type.Integer({
            minimum: 4,
            maximum: 256,
            description: 'number of values before it restarts at 0',
          }),
          frames: count('frames compared with the one before'),
          right: count('of these, frames with a counter one higher'),
        },
        { additionalProperties: false },
      ),
      { description: 'fields within one byte that count frames, found by trial' },
    ),
    checksum: Type.Optional(
      Type.Object(
        {
          start,
          bits: Type.Integer({ minimum: 4, maximum: 8, description: 'width, 4 or 8' }),
          method: Type.Enum(['xor', 'sum', 'negated-sum', 'crc8-j1850', 'crc8-h2f'], {
            description:
              '`xor`, `sum`: of the other bytes (nibbles, if it has 4 bits) and the constant; `negated-sum`: the constant less the others; `crc8-j1850`, `crc8-h2f`: start value and inversion 0xFF',
          }),
          appended: Type.Integer({ minimum: 0, maximum: 1, description: 'zero bytes after the payload in the CRC' }),
          constant: Type.Optional(byte('constant; a CRC is exclusive-ored with it')),
          constants: Type.Optional(
            Type.Array(unseen(byte('')), {
              description: 'one for each value of the counter, null for a value not seen',
            }),
          ),
          profile: Type.Optional(
            Type.String({
              description: 'profiles of AUTOSAR E2E with such a CRC and counter, `1 or 11` or `2 or 22`',
            }),
          ),
          dataId: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 0xffff, description: 'Data ID, if its bytes alternate' }),
          ),
          dataIds: Type.Optional(
            Type.Array(unseen(byte('')), { description: 'Data IDs by counter value, null for a value not seen' }),
          ),
          frames: count('tried frames'),
          right: count('of these, with this checksum'),
        },
        { additionalProperties: false, description: 'the checksum, found by trial' },
      ),
    ),
  },
  { additionalProperties: false, description: 'an identifier on a bus' },
);

export const databaseLine = Type.Object(
  {
    kind: Type.Literal('database'),
    file: Type.String({ description: 'path of the DBC' }),
    frames: count('data frames in all'),
    known: count('data frames with an identifier of the DBC'),
    fitting: count('of these, frames with the payload length of the DBC; the DBC with the most comes first'),
    values: count('values with a declared range, in a sample of these frames'),
    inRange: count('of these, within the range'),
    messages: count('messages in the logs'),
    ofMessages: count('messages in the DBC'),
    signals: count('signals of the messages in the logs'),
    ofSignals: count('signals in the DBC'),
  },
  { additionalProperties: false, description: 'how well a DBC fits the logs, with `--dbc`' },
);

export const signalLine = Type.Object(
  {
    kind: Type.Literal('signal'),
    message: Type.String({ description: 'name of the message' }),
    signal: Type.String({ description: 'name of the signal' }),
    unit: Type.String({ description: 'unit of its values in the DBC' }),
    frames: count('frames with the signal, on all buses'),
    minimum: Type.Optional(value('smallest value')),
    maximum: Type.Optional(value('largest value')),
    first: Type.Optional(value('value of the first frame')),
    last: Type.Optional(value('value of the latest frame')),
    firstAt: Type.Optional(time('first frame with the signal')),
    lastAt: Type.Optional(time('latest frame with the signal')),
    distinct: Type.Integer({ minimum: 0, maximum: 256, description: 'number of different values' }),
    more: Type.Boolean({ description: 'there were more than 256 different values' }),
    changes: count('number of changes of the value'),
    falls: count('of these, to a smaller value'),
    values: Type.Optional(
      Type.Array(
        Type.Object(
          {
            value: value('value'),
            name: Type.Optional(Type.String({ description: 'its name in the value table' })),
            frames: count('frames with the value'),
          },
          { additionalProperties: false },
        ),
        { description: 'the values, if they are at most 16' },
      ),
    ),
  },
  { additionalProperties: false, description: 'a signal of a DBC, with `--stats`' },
);

const side = (which: string) =>
  Type.Object(
    {
      frames: count('data frames of the identifier'),
      value: Type.Optional(count('the constant bits; for `length`, the commonest length in bytes')),
      flips: Type.Optional(count('number of changes of the bit that changes most often')),
      changedAfter: Type.Optional(Type.Number({ description: 'time of the first change, s after the first frame' })),
    },
    { additionalProperties: false, description: `in ${which}` },
  );

export const differenceLine = Type.Object(
  {
    kind: Type.Literal('difference'),
    what: Type.Enum(['value', 'changes', 'only', 'length'], {
      description:
        '`value`: constant bits with different values; `changes`: bits that change in only one; `only`: an identifier in only one; `length`: the commonest length differs',
    }),
    bus,
    id,
    extended,
    message: Type.Optional(Type.String({ description: 'name of the message in the first DBC that has it' })),
    start: Type.Optional(start),
    bits: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 8, description: 'number of adjacent bits with the same difference' }),
    ),
    first: side('the first logs'),
    second: side('the logs of `--compare`'),
    signals: Type.Array(
      Type.Object(
        {
          signal: Type.String({ description: 'name of a signal that has one of the bits' }),
          first: Type.Optional(Type.String({ description: 'name of its value in these logs' })),
          second: Type.Optional(Type.String({ description: 'name of its value in these logs' })),
        },
        { additionalProperties: false },
      ),
      { description: 'signals of the DBC' },
    ),
    protection: Type.Optional(Type.Boolean({ description: 'the bits belong to a counter or checksum' })),
  },
  {
    additionalProperties: false,
    description: 'a difference, with `--compare`, the likeliest effect of a single act first',
  },
);

export const correlationLine = Type.Object(
  {
    kind: Type.Literal('correlation'),
    bus,
    id,
    extended,
    message: Type.Optional(Type.String({ description: 'name of the message in the first DBC that has it' })),
    start: Type.Integer({
      minimum: 0,
      maximum: 511,
      description: 'start bit as in a DBC: the least significant of `little`, the most significant of `big`',
    }),
    bits: Type.Integer({ minimum: 1, maximum: 16, description: 'width: 1, 8, 12 or 16' }),
    byteOrder: Type.Enum(['little', 'big'], { description: '`little` is Intel, `big` Motorola' }),
    signed: Type.Boolean({ description: 'the raw value is a two’s complement number' }),
    coefficient: Type.Number({ minimum: -1, maximum: 1, description: 'Pearson’s coefficient' }),
    scale: Type.Number({ description: 'reference = raw × scale + offset, by least squares' }),
    offset: Type.Number({ description: 'as above' }),
    samples: count('reference times at which the field had a value'),
    signals: Type.Array(Type.String(), { description: 'signals of the DBC that have one of the bits' }),
  },
  {
    additionalProperties: false,
    description: 'a field that goes with the reference, with `--correlate`, the best first',
  },
);

export type CorrelationLine = Type.Static<typeof correlationLine>;
export type DifferenceLine = Type.Static<typeof differenceLine>;
export type DatabaseLine = Type.Static<typeof databaseLine>;
export type SignalLine = Type.Static<typeof signalLine>;
export type BusLine = Type.Static<typeof busLine>;
export type IdentifierLine = Type.Static<typeof identifierLine>;
