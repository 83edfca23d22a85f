import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compile } from '../../../protocol/cbor/codec.ts';
import { dictionary } from '../../../protocol/cbor/dictionary.ts';
import { decodePlainly, decodeQuickly, encodeMessage } from '../../../protocol/cbor/message.ts';
import { split } from '../../../protocol/cbor/shape.ts';
import { encodeTree } from '../../../protocol/cbor/wire.ts';
import { NumberWriter } from '../../../protocol/columns/numbers.ts';
import { columnsOfRows } from '../../../protocol/columns/rows.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { type BodyKind, bodies, type Message, messageSchema, wireSchema } from '../../../protocol/schema/message.ts';
import { runs } from '../../rig/runs.ts';
import { BASE, valuesOf } from './arbitrary.ts';

const kinds = Object.keys(bodies) as BodyKind[];
const codecs = new Map(kinds.map((kind) => [kind, compile(messageSchema(kind))]));
/** A random message of any kind. */
const anyMessage = fc.oneof(
  ...kinds.map((kind) =>
    (valuesOf(messageSchema(kind)) as fc.Arbitrary<Message>).map(
      (message) => ({ ...message, version: 1, kind }) as Message,
    ),
  ),
);

const plain = (message: Message): Uint8Array => codecs.get(message.kind)!.encode(message as never, message.at);

/** Packs shape and numbers into a message. */
function packed(parts: Uint8Array): Uint8Array {
  const size = new NumberWriter();
  size.unsigned(parts.length);
  return encodeTree(Buffer.concat([size.written, deflateRawSync(parts, { dictionary })]));
}

type Outcome = { readonly value: string } | { readonly code: string; readonly message: string };

/** The decoded value, with the order of its members, or the error. */
function outcome(decode: (payload: Uint8Array) => unknown, payload: Uint8Array): Outcome {
  try {
    return { value: JSON.stringify(decode(payload), bytesAsHex) };
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    return { code: error.code, message: error.message };
  }
}

function bytesAsHex(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value;
}

/** The bytes with some of them replaced. */
const damaged = (bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(bytes, fc.array(fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.nat(8))), { minLength: 1, maxLength: 3 }))
    .map(([before, changes]) => {
      const after = before.slice();
      // Most heads are near the start, so most changes are there.
      for (const [place, byte] of changes) after[place % Math.min(after.length, 1 + (place % 97))] = byte;
      return after;
    });

/** Checks that a payload decoded by the fast decoder has the same value from the plain decoder. */
function agree(payload: Uint8Array): boolean {
  const quick = outcome(decodeQuickly, payload);
  if ('value' in quick && quick.value === undefined) return false;
  expect(quick).toEqual(outcome(decodePlainly, payload));
  return true;
}

test('the fast decoder reads every output of encodeMessage, with the same result as the plain decoder', () => {
  fc.assert(
    fc.property(anyMessage, (message) => {
      expect(agree(encodeMessage(message))).toBe(true);
      expect(agree(plain(message))).toBe(true);
    }),
    { numRuns: runs(150, 1_000) },
  );
});

test('for damaged messages the fast decoder agrees with the plain decoder, or leaves them to it', () => {
  let read = 0;
  fc.assert(
    fc.property(damaged(anyMessage.map(plain)), (payload) => {
      if (agree(payload)) read++;
    }),
    { numRuns: runs(400, 5_000) },
  );
  expect(read).toBeGreaterThan(5);
});

test('for damaged shapes and numbers the fast decoder agrees with the plain decoder, or leaves them to it', () => {
  const parts = anyMessage.map((message) => split(plain(message))).filter((found) => found !== undefined);
  let read = 0;
  fc.assert(
    fc.property(damaged(parts.map((found) => found.slice())), (found) => {
      if (agree(packed(found))) read++;
    }),
    { numRuns: runs(400, 5_000) },
  );
  expect(read).toBeGreaterThan(5);
});

test('for columns of waypoints, damaged or not, the fast decoder agrees with the plain decoder, or leaves them to it', () => {
  const wire = compile(wireSchema('waypoint'));
  // Members of a point by key: at, latitude, longitude, type, and some optional ones.
  const row = fc
    .record({
      at: fc.nat(9000),
      type: fc.nat(1),
      others: fc.uniqueArray(fc.constantFrom(4, 5, 6, 8, 10), { maxLength: 2 }),
      value: fc.nat(1),
    })
    .map(({ at, type, others, value }) => {
      const members = [
        [1, at],
        [2, 488_000_000 + at],
        [3, 22_500_000],
        ...others.map((key) => [key, value]),
        [7, type],
      ];
      return new Map(members as [number, number][]);
    });
  const columns = fc
    .array(row, { minLength: 1, maxLength: 12 })
    .map((rows) => columnsOfRows(rows)?.slice())
    .filter((found) => found !== undefined);
  let read = 0;
  fc.assert(
    fc.property(fc.oneof(columns, damaged(columns)), (found) => {
      const message = { version: 1, kind: 'waypoint', seq: 1, boot: 1, at: BASE, clock: 'gnss' };
      if (agree(wire.encode({ ...message, body: { columns: found } } as never, BASE))) read++;
    }),
    { numRuns: runs(400, 5_000) },
  );
  expect(read).toBeGreaterThan(50);
});

test.each([
  ['keys in another order', 'a202f401f4'],
  ['a key twice', 'a201f401f4'],
  ['a key that no schema has', 'a2181ff401f4'],
  ['an integer in more bytes than it needs', 'a1011800'],
])('%s is left to the plain decoder', (_, body) => {
  const head = Buffer.from('a701010200030704030500060007', 'hex');
  expect(decodeQuickly(Buffer.concat([head, Buffer.from(body, 'hex')]))).toBeUndefined();
});
