import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBounds } from '../../../protocol/cbor/bounds.ts';
import { parse } from '../../../protocol/cbor/wire.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { readItem } from '../cddl/items.ts';

const bounds = { maximumBytes: 64, maximumDepth: 4, maximumItems: 20 };
const fromHex = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));
const check = (hex: string, tag?: number) => () =>
  checkBounds(fromHex(hex), tag === undefined ? bounds : { ...bounds, tag });

describe('an allowed item', () => {
  test.each([
    ['an integer', '00'],
    ['the largest integer', '1bffffffffffffffff'],
    ['an empty map', 'a0'],
    ['a map of several kinds', 'a30102200a6161816162'],
    ['arguments longer than needed', '1b0000000000000001'],
    ['floats', '83f93c00fa47c35000fb3ff199999999999a'],
    ['simple values', '84f4f5f6f7'],
    ['as deep as allowed', '8181818100'],
    ['as many items as allowed', `93${'00'.repeat(19)}`],
    ['the same key in two maps', '82a10101a10101'],
    ['keys of one value and two types', 'a3010120012101'],
  ])('%s', (_, hex) => {
    expect(check(hex)).not.toThrow();
  });

  test('may have the requested tag', () => {
    expect(check('d200', 18)).not.toThrow();
  });
});

describe('a refused item', () => {
  test.each([
    ['nothing', '', /ends in the middle of a data item at byte 0/],
    ['half a head', '19ff', /middle of a head/],
    ['half a text', '6261', /middle of a string/],
    ['half an array', '8200', /middle of an array or map/],
    ['half a map', 'a101', /middle of an array or map/],
    ['a count that no memory holds', '9bffffffffffffffff', /middle of an array or map/],
    ['a length that no memory holds', '5bffffffffffffffff', /middle of a string/],
    ['two items', '0000', /goes on for 1 bytes/],
    ['an indefinite array', '9fff', /indefinite length/],
    ['an indefinite text', '7f6161ff', /indefinite length/],
    ['a lone break', 'ff', /indefinite length or a lone break/],
    ['reserved information', '1c', /reserved additional information 28/],
    ['a simple value in two bytes that fits one', 'f818', /simple value 24/],
    ['a tag', 'c100', /has tag 1,/],
    ['a nested tag', '81c100', /has tag 1,/],
    ['text that is not UTF-8', '62c328', /not UTF-8/],
    ['a surrogate in UTF-8', '63eda080', /not UTF-8/],
    ['a key twice', 'a201000100', /key twice/],
    ['a key twice, written differently', 'a20100180100', /key twice/],
    ['a key twice of 64 bits', 'a21bffffffffffffffff001bffffffffffffffff00', /key twice/],
    ['a text key twice', 'a26161006161f6', /key twice/],
    ['a key in eight bytes that fits four', 'a11b00000000ffffffff00', /more bytes than it needs/],
    ['an array for a key', 'a18000', /neither an integer nor a string/],
  ])('%s', (_, hex, message) => {
    expect(check(hex)).toThrow(
      expect.objectContaining({ code: 'message.malformed', message: expect.stringMatching(message) }),
    );
  });

  test.each([
    ['no tag', '00'],
    ['another tag', 'd300'],
    ['nothing', ''],
    ['the tag twice', 'd2d200'],
    ['the tag within', 'd281d200'],
    ['the tag alone', 'd2'],
  ])('if tag 18 is requested: %s', (_, hex) => {
    expect(check(hex, 18)).toThrow(expect.objectContaining({ code: 'message.malformed' }));
  });

  test.each([
    ['too long', '00'.repeat(65)],
    ['too deep', '818181818100'],
    ['too deep by maps', 'a100a100a100a100a0'],
    ['too many items', `94${'00'.repeat(20)}`],
    ['too many keys and values', 'aa'.concat(...Array.from({ length: 10 }, (_, i) => `0${i}00`))],
  ])('%s', (_, hex) => {
    expect(check(hex)).toThrow(expect.objectContaining({ code: 'message.unbounded' }));
  });

  test('may have a million levels, and is refused without recursion', () => {
    const deep = new Uint8Array(1_000_000).fill(0x81);
    expect(() => checkBounds(deep, { maximumBytes: 1e7, maximumDepth: 1e7, maximumItems: 1e7 })).toThrow(
      expect.objectContaining({ code: 'message.malformed' }),
    );
  });
});

const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  // Random bytes rarely have structure, so most of these are heads of short items.
  fc
    .array(fc.constantFrom(0x00, 0x20, 0x40, 0x41, 0x60, 0x61, 0x80, 0x81, 0x82, 0xa0, 0xa1, 0xf4, 0xf9, 0x18, 0xd2), {
      maxLength: 30,
    })
    .map((list) => new Uint8Array(list)),
);

test('an independent reader accepts every accepted item, and cbor-x never throws for it', () => {
  let passed = 0;
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      try {
        checkBounds(bytes, bounds);
      } catch (error) {
        expect(error).toBeInstanceOf(VigieError);
        return;
      }
      passed++;
      readItem(bytes);
      if (!bytes.some((byte) => byte >= 0xe0)) parse(bytes);
    }),
    { numRuns: 5000, seed: 1 },
  );
  expect(passed).toBeGreaterThan(100);
});

test('items that an independent reader refuses are refused', () => {
  let refused = 0;
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      try {
        readItem(bytes);
        return;
      } catch {
        refused++;
      }
      expect(() => checkBounds(bytes, bounds)).toThrow(VigieError);
    }),
    { numRuns: 5000, seed: 2 },
  );
  expect(refused).toBeGreaterThan(100);
});
