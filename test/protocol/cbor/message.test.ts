import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeMessage, encodeMessage, messageBounds } from '../../../protocol/cbor/message.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { type BodyKind, bodies, type Message, messageSchema } from '../../../protocol/schema/message.ts';
import { runs } from '../../rig/runs.ts';
import { readItem } from '../cddl/items.ts';
import { BASE, valuesOf } from './arbitrary.ts';

const kinds = Object.keys(bodies) as BodyKind[];

/** Random messages of a kind, with any envelope and body that the schemas allow. */
function messages(kind: BodyKind): fc.Arbitrary<Message> {
  return (valuesOf(messageSchema(kind)) as fc.Arbitrary<Message>).map((message) => ({
    ...message,
    version: 1,
    kind,
    at: BASE + (message.at % 1e9),
  })) as fc.Arbitrary<Message>;
}
const anyMessage = fc.oneof(...kinds.map(messages));

describe.each(kinds)('%s', (kind) => {
  test('is decoded as it was encoded', () => {
    fc.assert(
      fc.property(messages(kind), (message) => {
        expect(decodeMessage(encodeMessage(message))).toEqual(message);
      }),
    );
  });

  test('is encoded deterministically', () => {
    fc.assert(
      fc.property(messages(kind), (message) => {
        expect(readItem(encodeMessage(message)).departures).toEqual([]);
      }),
    );
  });
});

const hello: Message = {
  version: 1,
  kind: 'hello',
  seq: 7,
  boot: 3,
  at: BASE,
  clock: 'gnss',
  body: { version: '1.4.0', protocol: 1, boot: 3, profile: 'bench 1', startedAt: BASE - 1500 },
};

test('golden: a hello message', () => {
  const golden =
    'a7' +
    '0101' + // version
    '020d' + // kind: hello
    '0307' + // seq
    '0403' + // boot
    '051b000001977420dc00' + // at, absolute
    '0600' + // clock: gnss
    '07a501' +
    '65312e342e30' + // version
    '0201' +
    '0303' +
    '046762656e63682031' + // profile
    '051905dc'; // started 1500 ms before
  expect(Buffer.from(encodeMessage(hello)).toString('hex')).toBe(golden);
  expect(decodeMessage(new Uint8Array(Buffer.from(golden, 'hex')))).toEqual(hello);
});

describe('faults', () => {
  test.each<[string, object, RegExp]>([
    [
      'a fault of the body names its path',
      { body: { ...hello.body, protocol: 0 } },
      /^body\.protocol must be at least 1, is 0$/,
    ],
    ['a body of another kind', { kind: 'gap' }, /^body must have the member class$/],
    ['a kind that does not exist', { kind: 'sonnet' }, /^kind must be one of /],
    ['another version', { version: 2 }, /^version must be 1, is 2$/],
    ['no time', { at: Number.NaN }, /^at must be a finite number$/],
    ['no body', { body: undefined }, /^message must have the member body$/],
  ])('encode: %s', (_, change, message) => {
    expect(() => encodeMessage({ ...hello, ...change } as Message)).toThrow(
      expect.objectContaining({ code: 'message.malformed', message: expect.stringMatching(message) }),
    );
  });

  test.each<[string, string, RegExp]>([
    ['another version', 'a60102020d0307040305000600', /^version must be 1, is 2$/],
    ['a kind of a later version', 'a70101021863030704030500060007a0', /^message has a required member whose value/],
    ['no envelope', 'a0', /^message must have the member version/],
    ['text', '6161', /^message must be a map$/],
  ])('decode: %s', (_, hex, message) => {
    expect(() => decodeMessage(new Uint8Array(Buffer.from(hex, 'hex')))).toThrow(
      expect.objectContaining({ code: 'message.malformed', message: expect.stringMatching(message) }),
    );
  });

  test('a message too large for receivers is not encoded', () => {
    const points = Array.from({ length: 70_000 }, () => ({
      at: BASE,
      latitude: 48.1,
      longitude: 2.1,
      type: 'Acquire',
    }));
    expect(() => encodeMessage({ ...hello, kind: 'waypoint', body: { points } })).toThrow(
      expect.objectContaining({ code: 'message.unbounded', message: expect.stringMatching(/^a waypoint message of/) }),
    );
  });

  test('the size is checked first', () => {
    expect(() => decodeMessage(new Uint8Array(messageBounds.maximumBytes + 1))).toThrow(
      expect.objectContaining({ code: 'message.unbounded' }),
    );
  });

  test('mutated bytes decode to a message or cause a VigieError', () => {
    const change = fc.tuple(fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(anyMessage, fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(), (message, changes, cut) => {
        const encoding = encodeMessage(message);
        for (const [at, byte] of changes) encoding[at % encoding.length] = byte;
        const bytes = cut % 3 === 0 ? encoding.subarray(0, cut % encoding.length) : encoding;
        let result: Message;
        try {
          result = decodeMessage(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
          return;
        }
        expect(decodeMessage(encodeMessage(result))).toEqual(result);
      }),
      { numRuns: runs(50, 1000) },
    );
  });
});
