import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile } from '../../../protocol/cbor/codec.ts';
import { join, split } from '../../../protocol/cbor/shape.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { type BodyKind, bodies } from '../../../protocol/schema/message.ts';
import { runs } from '../../rig/runs.ts';
import { BASE, valuesOf } from './arbitrary.ts';

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');
const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

describe('shape and numbers', () => {
  test.each([
    ['an integer', '1864', '00c801'],
    ['a negative integer', '20', '0001'],
    ['keys stay, values leave', 'a201190100186482f503', 'a20100186482f500800406'],
    ['texts, bytes and floats stay', '83616141fff93c00', '83616141fff93c00'],
    ['beyond 32 bits', '1b0000000100000000', '008080808020'],
  ])('golden: %s', (_, item, parts) => {
    const back = split(fromHex(item));
    expect(hex(back)).toBe(parts);
    expect(hex(join(back!))).toBe(item);
  });

  test('restore every output of the codec to the byte', () => {
    const kinds = Object.keys(bodies) as BodyKind[];
    const codecs = new Map(kinds.map((kind) => [kind, compile(bodies[kind])]));
    const body = fc.oneof(
      ...kinds.map((kind) => (valuesOf(bodies[kind]) as fc.Arbitrary<unknown>).map((value) => ({ kind, value }))),
    );
    fc.assert(
      fc.property(body, ({ kind, value }) => {
        const item = codecs.get(kind)!.encode(value as never, BASE);
        expect(hex(join(split(item)!))).toBe(hex(item));
      }),
      { numRuns: runs(100, 500) },
    );
  });

  test('cannot represent an integer beyond 2^53', () => {
    expect(split(fromHex('1bffffffffffffffff'))).toBeUndefined();
  });

  test.each([
    ['nothing', ''],
    ['an integer in the shape', '01'],
    ['a longer 0 in the shape', '180000'],
    ['a number too few', '820000'],
    ['a number too many', '000000'],
    ['half a text', '6261'],
    ['half a map', 'a101'],
  ])('%s is refused', (_, parts) => {
    expect(() => join(fromHex(parts))).toThrow(expect.objectContaining({ code: 'message.malformed' }));
  });

  test('of any bytes yield an item or a VigieError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (parts) => {
        try {
          join(parts);
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
