import { constants, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_DICTIONARY, portableDeflate } from '../../../protocol/columns/deflate.ts';
import { inflate } from '../../../protocol/columns/inflate.ts';
import { VigieError } from '../../../protocol/errors.ts';

/** Bytes with repetitions, to cause every kind of block and long matches. */
const content = fc
  .array(fc.tuple(fc.uint8Array({ maxLength: 40 }), fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 60 }))), {
    maxLength: 40,
  })
  .map((parts) =>
    Uint8Array.from(
      parts.flatMap(([bytes, times]) =>
        Array(times)
          .fill([...bytes])
          .flat(),
      ),
    ),
  );

const strategies = [
  constants.Z_DEFAULT_STRATEGY,
  constants.Z_FILTERED,
  constants.Z_HUFFMAN_ONLY,
  constants.Z_RLE,
  constants.Z_FIXED,
];

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

describe('inflate', () => {
  test('reads the output of zlib for every level and strategy', () => {
    const options = fc.record({ level: fc.integer({ min: 0, max: 9 }), strategy: fc.constantFrom(...strategies) });
    fc.assert(
      fc.property(content, content, options, (bytes, dictionary, how) => {
        expect(inflate(deflateRawSync(bytes, how), bytes.length, NO_DICTIONARY)).toEqual(bytes);
        if (dictionary.length === 0) return;
        expect(inflate(deflateRawSync(bytes, { ...how, dictionary }), bytes.length, dictionary)).toEqual(bytes);
      }),
      { numRuns: 300 },
    );
  });

  test('reads the output of the portable deflate', () => {
    fc.assert(
      fc.property(content, content, (bytes, dictionary) => {
        expect(inflate(portableDeflate(bytes), bytes.length, NO_DICTIONARY)).toEqual(bytes);
        expect(inflate(portableDeflate(bytes, dictionary), bytes.length, dictionary)).toEqual(bytes);
      }),
    );
  });

  test('reads matches across the 32 KiB window', () => {
    const bytes = new Uint8Array(200_000).map((_, i) => (i * i) >> 7);
    expect(inflate(deflateRawSync(bytes), bytes.length, NO_DICTIONARY)).toEqual(bytes);
  });

  test('refuses a wrong announced size: one byte too few, one too many, or far too few', () => {
    fc.assert(
      fc.property(content, content, (bytes, dictionary) => {
        const compressed = portableDeflate(bytes, dictionary);
        expect(() => inflate(compressed, bytes.length + 1, dictionary)).toThrow(/gives|cannot give/);
        if (bytes.length === 0) return;
        expect(() => inflate(compressed, bytes.length - 1, dictionary)).toThrow(VigieError);
      }),
    );
    const bomb = deflateRawSync(new Uint8Array(50_000_000));
    expect(() => inflate(bomb, 1000, NO_DICTIONARY)).toThrow(/has \d+ bytes and is to give only 1000/);
    expect(() => inflate(bomb, 60_000, NO_DICTIONARY)).toThrow(/gives more than 60000 bytes, not 60000/);
    expect(() => inflate(bomb.subarray(0, 10), 1 << 30, NO_DICTIONARY)).toThrow(/cannot give 1073741824 bytes from 10/);
  });

  test.each<[string, string, number, RegExp]>([
    ['no byte at all', '', 0, /gives more than 0/],
    ['fewer bytes than announced', '0300', 1, /gives 0 bytes, not 1/],
    ['a block of type 3', '07', 1, /cannot be read: invalid block type/],
    ['half a stored block', '010200fdff00', 2, /cannot be read: unexpected EOF/],
    ['a stored block longer than announced', '010300fcff000000', 1, /cannot be read: /],
    ['a distance before the beginning', '030200', 3, /cannot be read|gives/],
    ['an incomplete code', '05e0810000000000100000', 6, /cannot be read/],
  ])('%s is refused', (_, text, size, message) => {
    expect(() => inflate(hex(text), size, NO_DICTIONARY)).toThrow(
      expect.objectContaining({ code: 'message.malformed', message: expect.stringMatching(message) }),
    );
  });

  test('yields the announced number of bytes or a VigieError for any input', () => {
    const mutated = fc
      .tuple(content, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.integer({ min: 0, max: 9 }))
      .map(([bytes, changes, level]) => {
        const compressed = Uint8Array.from(deflateRawSync(bytes, { level }));
        for (const [at, byte] of changes) compressed[at % compressed.length] = byte;
        return compressed;
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 80 })), fc.nat(3000), (compressed, size) => {
        try {
          expect(inflate(compressed, size, NO_DICTIONARY)).toHaveLength(size);
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
