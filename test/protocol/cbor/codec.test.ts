import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile } from '../../../protocol/cbor/codec.ts';
import { VigieError } from '../../../protocol/errors.ts';
import {
  bytes,
  constant,
  enumeration,
  flag,
  instant,
  list,
  optional,
  quantity,
  record,
  required,
  type TSchema,
  text,
  tuple,
} from '../../../protocol/schema/fields.ts';
import { readItem } from '../cddl/items.ts';
import { BASE, valuesOf } from './arbitrary.ts';

const d = 'of the test';
const tenths = quantity('km/h', 0.1, [0, 400], d);
const float = quantity('1', 0, [], d);
const big = quantity('1', 1, [], d);

const everything = record('Everything', d, {
  // The keys are deliberately in another order than the members.
  speed: optional(9, tenths),
  float: optional(2, float),
  big: optional(300, big),
  moving: optional(0, flag(d)),
  name: optional(24, text(d, { maxLength: 100 })),
  door: optional(7, enumeration(d, ['Open', 'Closed', 'Ajar'])),
  at: optional(5, instant(d)),
  raw: optional(1, bytes(d, { maxLength: 400 })),
  inner: optional(
    23,
    record('Inner', d, {
      type: required(2, constant('Point', d)),
      coordinates: required(
        1,
        tuple<[number, number] | [number, number, number]>(d, 2, [
          quantity('deg', 1e-7, [-180, 180], d),
          quantity('deg', 1e-7, [-90, 90], d),
          float,
        ]),
      ),
    }),
  ),
  list: optional(
    65536,
    list(d, record('Entry', d, { type: required(1, enumeration(d, ['A', 'B'])), level: optional(2, tenths) }), {
      identity: ['type'],
      maxItems: 5,
    }),
  ),
});
const codec = compile(everything);
const decoded = (schema: TSchema, hex: string, base = 0): unknown => compile(schema).decode(fromHex(hex), base);

describe('the wire form', () => {
  const one = (schema: TSchema, value: unknown, base = 0): string =>
    toHex(compile(record('One', d, { v: required(0, schema) })).encode({ v: value } as never, base)).slice(4);
  test.each<[string, TSchema, unknown, string]>([
    ['a quantity counts its resolution', tenths, 82.3, '190337'],
    ['a quantity rounds to the nearest step', tenths, 82.34, '190337'],
    ['no step is negative zero', big, -0.2, '00'],
    ['the largest one-byte argument', big, 23, '17'],
    ['the smallest two-byte argument', big, 24, '1818'],
    ['256', big, 256, '190100'],
    ['65536', big, 65536, '1a00010000'],
    ['2^32-1', big, 2 ** 32 - 1, '1affffffff'],
    ['2^32', big, 2 ** 32, '1b0000000100000000'],
    ['2^53-1', big, Number.MAX_SAFE_INTEGER, '1b001fffffffffffff'],
    ['-1', big, -1, '20'],
    ['-2^32', big, -(2 ** 32), '3affffffff'],
    ['-2^32-1', big, -(2 ** 32) - 1, '3b0000000100000000'],
    ['an enumeration is its position', enumeration(d, ['a', 'b']), 'b', '01'],
    ['an instant counts back', instant(d), BASE - 1000, '1903e8'],
    ['an instant after the message is negative', instant(d), BASE + 1, '20'],
    ['true', flag(d), true, 'f5'],
    ['text', text(d), 'ü', '62c3bc'],
    ['bytes carry no tag', bytes(d), new Uint8Array([1, 2]), '420102'],
    // RFC 8949 appendix A
    ['0.0', float, 0, 'f90000'],
    ['-0.0', float, -0, 'f98000'],
    ['1.0', float, 1, 'f93c00'],
    ['1.1', float, 1.1, 'fb3ff199999999999a'],
    ['1.5', float, 1.5, 'f93e00'],
    ['65504.0', float, 65504, 'f97bff'],
    ['100000.0', float, 100000, 'fa47c35000'],
    ['largest binary32', float, 3.4028234663852886e38, 'fa7f7fffff'],
    ['1.0e+300', float, 1e300, 'fb7e37e43c8800759c'],
    ['smallest binary16', float, 2 ** -24, 'f90001'],
    ['smallest normal binary16', float, 0.00006103515625, 'f90400'],
    ['-4.0', float, -4, 'f9c400'],
    ['-4.1', float, -4.1, 'fbc010666666666666'],
  ])('%s', (_, schema, value, hex) => {
    expect(one(schema, value, BASE)).toBe(hex);
  });

  test('of a record is a map with ascending keys, without constants and missing members', () => {
    const value = {
      speed: 0.5,
      moving: true,
      inner: { type: 'Point' as const, coordinates: [1, -2] as [number, number] },
    };
    // {0: true, 9: 5, 23: {1: [10000000, -20000000]}}
    expect(toHex(codec.encode(value, BASE))).toBe('a300f5090517a101821a009896803a01312cff');
  });

  test('omits undefined members', () => {
    expect(toHex(codec.encode({ moving: undefined } as never, BASE))).toBe('a0');
  });
});

describe('encoding and decoding', () => {
  test('every value survives', () => {
    fc.assert(
      fc.property(valuesOf(everything), (value) => {
        expect(codec.decode(codec.encode(value, BASE), BASE)).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  test('every encoding is deterministic, and an independent reader reads the same', () => {
    fc.assert(
      fc.property(valuesOf(everything), (value) => {
        const { item, departures } = readItem(codec.encode(value, BASE));
        expect(departures).toEqual([]);
        const keys = item.type === 'map' ? item.entries.map(([key]) => key) : [];
        expect(keys.length).toBe(Object.keys(value).length);
      }),
      { numRuns: 500 },
    );
  });

  test('the order of the input members does not matter', () => {
    fc.assert(
      fc.property(valuesOf(everything), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).toReversed()) as typeof value;
        expect(codec.encode(reversed, BASE)).toEqual(codec.encode(value, BASE));
      }),
    );
  });

  test('every multiple of a decimal resolution decodes to the double nearest to its decimal', () => {
    const resolutions = [0.1, 0.01, 0.001, 1e-7, 0.5, 0.05, 0.25, 2.5, 10, 1];
    fc.assert(
      fc.property(
        fc.constantFrom(...resolutions),
        fc.integer({ min: -(2 ** 31), max: 2 ** 31 }),
        (resolution, count) => {
          const schema = compile(record('Q', d, { v: required(0, quantity('1', resolution, [], d)) }));
          const integer = compile(record('I', d, { v: required(0, big) }));
          const { v } = schema.decode(integer.encode({ v: count }, 0), 0);
          expect(v).toBe(decimalProduct(count, resolution));
          expect(schema.encode({ v }, 0)).toEqual(integer.encode({ v: count }, 0));
        },
      ),
    );
  });

  test('a count of negative zero decodes to zero', () => {
    expect(decoded(record('Q', d, { v: required(0, big) }), 'a100f98000')).toEqual({ v: 0 });
  });

  test('82.3 with resolution 0.1 decodes to 82.3', () => {
    expect(decoded(record('Q', d, { v: required(0, tenths) }), 'a100190337')).toEqual({ v: 82.3 });
  });

  test('decoded bytes do not share memory with the message', () => {
    const encoding = codec.encode({ raw: new Uint8Array([1, 2, 3]) }, BASE);
    const { raw } = codec.decode(encoding, BASE);
    encoding.fill(0);
    expect(raw).toEqual(new Uint8Array([1, 2, 3]));
  });

  test('a limit between two steps is a valid value', () => {
    const odd = compile(record('Q', d, { v: required(0, quantity('1', 0.15, [0, 100], d)) }));
    expect(odd.decode(odd.encode({ v: 100 }, 0), 0)).toEqual({ v: 100 });
  });
});

test('strings and arrays of every length are written with the shortest head', () => {
  const schema = record('Sizes', d, {
    text: required(1, text(d, { maxLength: 70_000 })),
    raw: required(2, bytes(d)),
    list: required(3, list(d, big)),
  });
  const sized = compile(schema);
  const lengths = [0, 1, 23, 24, 31, 32, 63, 64, 65, 85, 86, 127, 128, 255, 256, 257, 21_845, 21_846, 65_535, 65_536];
  fc.assert(
    fc.property(fc.constantFrom(...lengths), fc.constantFrom('x', 'ü', '漢', '🚗'), (length, character) => {
      const value = { text: character.repeat(length), raw: new Uint8Array(length), list: new Array(length).fill(1) };
      const encoding = sized.encode(value, 0);
      expect(readItem(encoding).departures).toEqual([]);
      expect(sized.decode(encoding, 0)).toEqual(value);
    }),
  );
});

describe('forward compatibility', () => {
  test('unknown keys are ignored', () => {
    expect(decoded(everything, 'a200f5190fff8201a10102')).toEqual({ moving: true });
  });

  const Entry = record('Entry', d, { type: required(1, enumeration(d, ['A', 'B'])), n: optional(2, big) });
  test('an optional member with an unknown enumeration value is omitted', () => {
    expect(decoded(everything, 'a200f50718ff')).toEqual({ moving: true });
  });
  test('a list omits an entry whose required member has an unknown value', () => {
    const schema = record('L', d, { list: required(0, list(d, Entry)) });
    expect(decoded(schema, 'a10083a10100a10109a10101')).toEqual({ list: [{ type: 'A' }, { type: 'B' }] });
  });
  test('an unknown value in the root is an error with the name of the member', () => {
    expect(() => decoded(Entry, 'a10109')).toThrow(/required member/);
  });
  test('a strict codec refuses unknown values anywhere', () => {
    const strict = compile(everything, { unknownValues: 'refuse' });
    expect(() => strict.decode(fromHex('a200f50718ff'), 0)).toThrow(/^door must be a position below 3, is 255$/);
  });
});

describe('faults', () => {
  test.each<[string, unknown, RegExp]>([
    ['above the maximum', { speed: 400.1 }, /^speed must be at most 400, is 400.1$/],
    ['below the minimum', { speed: -1 }, /^speed must be at least 0, is -1$/],
    ['not a number', { speed: '1' }, /^speed must be a finite number$/],
    ['NaN', { float: Number.NaN }, /^float must be a finite number$/],
    ['infinite', { speed: Number.POSITIVE_INFINITY }, /^speed must be a finite number$/],
    ['null', { speed: null }, /^speed must be a finite number$/],
    ['too many steps', { big: 2 ** 53 }, /^big must be within 2\^53 steps/],
    ['not a flag', { moving: 1 }, /^moving must be true or false$/],
    ['unknown name', { door: 'open' }, /^door must be one of Open, Closed, Ajar$/],
    ['name of the prototype', { door: 'constructor' }, /^door must be one of/],
    ['too long a text', { name: 'x'.repeat(101) }, /^name must have at most 100 characters$/],
    ['lone surrogate', { name: 'a\ud800' }, /^name must be a text without lone surrogates and byte order mark$/],
    ['byte order mark', { name: '\ufeffa' }, /^name must be a text without/],
    ['too many bytes', { raw: new Uint8Array(401) }, /^raw must have at most 400 bytes, has 401$/],
    ['array for bytes', { raw: [1] }, /^raw must be bytes$/],
    ['instant as a date', { at: new Date(BASE) }, /^at must be UTC milliseconds$/],
    ['instant that no date reaches', { at: 9e15 }, /^at must be within 8 × 10\^15 ms of 1970$/],
    ['array for a record', { inner: [] }, /^inner must be an object$/],
    ['missing member', { inner: { type: 'Point' } }, /^inner must have the member coordinates$/],
    ['wrong constant', { inner: { type: 'Line', coordinates: [1, 2] } }, /^inner\.type must be Point$/],
    [
      'short tuple',
      { inner: { type: 'Point', coordinates: [1] } },
      /^inner\.coordinates must be an array of 2 to 3 entries$/,
    ],
    [
      'tuple out of range',
      { inner: { type: 'Point', coordinates: [1, 91] } },
      /^inner\.coordinates\[1\] must be at most 90/,
    ],
    ['list entry', { list: [{ type: 'A' }, { type: 'C' }] }, /^list\[1\]\.type must be one of A, B$/],
    ['hole in a list', { list: new Array(2) }, /^list\[0\] must be an object$/],
    ['too long a list', { list: Array(6).fill({ type: 'A' }) }, /^list must have at most 5 entries, has 6$/],
    ['not an object', 'text', /^message must be an object$/],
  ])('encode: %s', (_, value, message) => {
    expect(() => codec.encode(value as never, BASE)).toThrow(
      expect.objectContaining({ code: 'message.malformed', message: expect.stringMatching(message) }),
    );
  });

  test.each<[string, string, RegExp]>([
    ['not a map', '01', /^message must be a map$/],
    ['out of range', 'a1091a00ffffff', /^speed must be 0 to 4000 steps of 0.1, is 16777215$/],
    ['float for a count', 'a109f93e00', /^speed must be an integer within 2\^53$/],
    ['integer beyond 2^53', 'a119012c1bffffffffffffffff', /^big must be an integer within 2\^53$/],
    ['null', 'a100f6', /^moving must be true or false$/],
    ['NaN', 'a102f97e00', /^float must be a finite number$/],
    ['negative position', 'a10720', /^door must be the position of a name/],
    ['fraction of a millisecond', 'a105f93800', /^at must be integer milliseconds/],
    ['instant that no date reaches', 'a1051b001ff973cafa8000', /^at must be within 8 × 10\^15 ms of 1970$/],
    ['missing member', 'a117a0', /^inner must have the member coordinates \(key 1\)$/],
    ['truncated', 'a109', /^not one CBOR data item/],
    ['trailing byte', 'a000', /^not one CBOR data item/],
    ['empty', '', /^not one CBOR data item/],
  ])('decode: %s', (_, hex, message) => {
    expect(() => codec.decode(fromHex(hex), BASE)).toThrow(
      expect.objectContaining({ code: 'message.malformed', message: expect.stringMatching(message) }),
    );
  });

  test('mutated bytes decode to a value of the schema, or cause a VigieError', () => {
    fc.assert(
      fc.property(
        valuesOf(everything),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
        (value, changes) => {
          const encoding = codec.encode(value, BASE);
          for (const [at, byte] of changes) if (encoding.length > 0) encoding[at % encoding.length] = byte;
          let result: ReturnType<typeof codec.decode>;
          try {
            result = codec.decode(encoding, BASE);
          } catch (error) {
            expect(error).toBeInstanceOf(VigieError);
            return;
          }
          // The result must be a value of the schema, so it can be encoded again.
          expect(codec.decode(codec.encode(result, BASE), BASE)).toEqual(result);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('a schema without a wire form is refused', () => {
  test.each<[string, TSchema, RegExp]>([
    ['a member without key', record('R', d, { a: flag(d) }), /R\.a has no x-key/],
    ['a key twice', record('R', d, { a: required(1, flag(d)), b: required(1, flag(d)) }), /R\.b has the x-key 1 of a/],
    ['a value twice', record('R', d, { a: required(1, enumeration(d, ['x', 'x'])) }), /R\.a names a value twice/],
    ['a resolution below 0', record('R', d, { a: required(1, quantity('m', -1, [], d)) }), /R\.a/],
    ['a type without words', record('R', d, { a: required(1, { type: 'null' } as TSchema) }), /R\.a has no annotation/],
  ])('%s', (_, schema, message) => {
    expect(() => compile(schema)).toThrow(
      expect.objectContaining({ code: 'configuration.wrong', message: expect.stringMatching(message) }),
    );
  });
});

/** The product in decimal arithmetic, computed with BigInt. */
function decimalProduct(count: number, resolution: number): number {
  const decimals = 8;
  const scaled = BigInt(count) * BigInt(Math.round(resolution * 10 ** decimals));
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, '0');
  const value = Number(`${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`);
  return scaled < 0n ? -value : value;
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function fromHex(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}
