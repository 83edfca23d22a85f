import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile } from '../../../protocol/cbor/codec.ts';
import { shortestFloat } from '../../../protocol/cbor/float.ts';
import { parse } from '../../../protocol/cbor/wire.ts';
import { bytes, list, quantity, record, required } from '../../../protocol/schema/fields.ts';
import { half, readItem } from '../cddl/items.ts';

const d = 'of the test';

describe('binary16', () => {
  test('every bit pattern is written and read as in RFC 8949 appendix D', () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      const value = half(bits);
      expect(Object.is(parse(new Uint8Array([0xf9, bits >> 8, bits & 255])), value)).toBe(true);
      if (Number.isNaN(value)) continue;
      expect(shortestFloat(value)).toEqual(new Uint8Array([bits >> 8, bits & 255]));
    }
  });

  test('NaN has only one form', () => {
    expect(shortestFloat(Number.NaN)).toEqual(new Uint8Array([0x7e, 0x00]));
  });
});

test('every float takes the shortest format that can represent it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.double(), fc.float(), fc.integer()), (value) => {
      const content = shortestFloat(value);
      const head = content.length === 2 ? 0xf9 : content.length === 4 ? 0xfa : 0xfb;
      const { item, departures } = readItem(new Uint8Array([head, ...content]));
      expect(departures).toEqual([]);
      expect(item).toEqual({ type: 'float', value, size: content.length });
    }),
    { numRuns: 2000 },
  );
});

test('floats mixed with byte strings of the same bytes and lengths are read back', () => {
  const float = quantity('1', 0, [], d);
  const entry = record('Entry', d, { raw: required(1, bytes(d)), float: required(2, float) });
  const codec = compile(record('Mixed', d, { entries: required(1, list(d, entry)) }));
  const raw = fc.oneof(
    fc.constantFrom(2, 4, 8).chain((n) => fc.uint8Array({ minLength: n, maxLength: n })),
    fc.uint8Array(),
  );
  const value = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(fc.array(fc.record({ raw, float: value }, { noNullPrototype: true }), { maxLength: 30 }), (entries) => {
      const encoding = codec.encode({ entries }, 0);
      expect(readItem(encoding).departures).toEqual([]);
      expect(codec.decode(encoding, 0)).toEqual({ entries });
    }),
  );
});
