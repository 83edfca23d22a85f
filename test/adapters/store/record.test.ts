import { Decoder } from 'cbor-x';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Item, markSize, RecordBatch, smallestPadding } from '../../../adapters/store/batch.ts';
import { crc32c, crc32cOf } from '../../../adapters/store/crc32c.ts';
import { RecordCursor } from '../../../adapters/store/cursor.ts';
import { findGroups } from '../../../adapters/store/groups.ts';
import { headLength, lengthAt } from '../../../adapters/store/record.ts';
import { headerLength, readHeader, seedOf, writeHeader } from '../../../adapters/store/segment.ts';

describe('CRC-32C', () => {
  it('agrees with RFC 3720 appendix B.4', () => {
    expect(crc32c(new Uint8Array(32))).toBe(0x8a91_36aa);
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8_ab43);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd_794e);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => 31 - i))).toBe(0x113f_db5c);
  });

  it('can be continued from an intermediate value', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        const whole = Uint8Array.of(...a, ...b);
        expect(crc32c(b, 0, b.length, crc32c(a))).toBe(crc32c(whole));
        expect(crc32c(whole, a.length)).toBe(crc32c(b));
        const word = new DataView(new ArrayBuffer(4));
        word.setUint32(0, a.length * 0x1234_567, true);
        expect(crc32cOf(word.getUint32(0, true), crc32c(a))).toBe(crc32c(new Uint8Array(word.buffer), 0, 4, crc32c(a)));
      }),
    );
  });
});

const { item } = fc.letrec<{ item: Item }>((tie) => ({
  item: fc.oneof(
    { depthSize: 'small' },
    fc.nat(),
    fc.maxSafeNat(),
    fc.double(),
    fc.boolean(),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie('item'), { maxLength: 40 }),
  ),
}));
const records = fc.array(fc.array(item, { minLength: 1 }), { maxLength: 12 });

/** Groups as in segment 9. Each is a list of records, synced before the next one was written. */
function segmentOf(groups: readonly (readonly Item[])[][], zeros: number, synced: boolean): Uint8Array {
  const parts: Uint8Array[] = [writeHeader(9, { number: 8, used: 100 }, false)];
  let used = headerLength;
  for (const records of groups) {
    const batch = new RecordBatch();
    batch.clear(seedOf(9));
    for (const record of records) batch.add(record);
    batch.addMark(used, batch.sum, synced ? used : 0);
    parts.push(batch.bytes.slice());
    used += batch.length;
  }
  parts.push(new Uint8Array(zeros));
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

const decoder = new Decoder({ useRecords: false });

/** The valid records. */
function read(bytes: Uint8Array, limit?: number): unknown[] {
  return findGroups(bytes, 9, readHeader(bytes), limit).records.map((at) =>
    decoder.decode(bytes.slice(at + headLength, at + headLength + lengthAt(bytes, at, bytes.length))),
  );
}

describe('groups', () => {
  const groups = fc.array(records, { maxLength: 4 });

  it('are read back unchanged, whatever their content', () => {
    fc.assert(
      fc.property(groups, fc.nat(64), (written, zeros) => {
        const bytes = segmentOf(written, zeros, true);
        expect(read(bytes)).toEqual(written.flat());
        const found = findGroups(bytes, 9, readHeader(bytes), undefined);
        expect(found).toMatchObject({ damaged: 0, torn: false, end: bytes.length - zeros });
      }),
    );
  });

  it('are valid up to the first incomplete one, if nothing proves that they were synced', () => {
    fc.assert(
      fc.property(groups, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 20 }), (written, where, noise) => {
        const bytes = segmentOf(written, 16, false);
        const ends = written.map((_, i) => segmentOf(written.slice(0, i + 1), 0, false).length);
        const at = headerLength + (where % (bytes.length - headerLength));
        const before = bytes.slice();
        bytes.set(noise.subarray(0, bytes.length - at), at);
        const same = bytes.findIndex((byte, i) => byte !== before[i]);
        const whole = written.filter((_, i) => same < 0 || ends[i]! <= same);
        expect(read(bytes)).toEqual(whole.flat());
      }),
      { numRuns: 300 },
    );
  });

  it('lose only damaged records, if all were synced', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 3, maxLength: 8 });
    fc.assert(
      fc.property(sizes, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 20 }), (lengths, where, noise) => {
        const written = lengths.map((length, i) => [[10 + i, new Uint8Array(length).fill(i)]]);
        const bytes = segmentOf(written, 0, true);
        const starts = written.map((_, i) => segmentOf(written.slice(0, i), 0, true).length);
        const at = headerLength + (where % (bytes.length - headerLength));
        const before = bytes.slice();
        bytes.set(noise.subarray(0, bytes.length - at), at);
        const untouched = lengths.flatMap((_, i) => {
          const from = starts[i]!;
          const to = from + headLength + lengthAt(before, from, before.length);
          return bytes.subarray(from, to).every((byte, k) => byte === before[from + k]) ? [10 + i] : [];
        });
        expect(read(bytes, bytes.length).map((record) => (record as number[])[0])).toEqual(untouched);
        const { damaged } = findGroups(bytes, 9, readHeader(bytes), bytes.length);
        if (untouched.length < lengths.length) expect(damaged).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });

  it('of another segment are ignored, whatever file they are in', () => {
    const bytes = segmentOf([[[1, 'a']]], 0, true);
    expect(findGroups(bytes, 10, readHeader(bytes), undefined).records).toEqual([]);
  });

  it('are not found in random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4000 }), (bytes) => {
        const found = findGroups(bytes, 9, readHeader(bytes), undefined);
        expect(found.records).toEqual([]);
        expect(found.torn).toBe(bytes.some((byte) => byte !== 0));
      }),
    );
  });

  it('end with a mark of the declared length and padding of any length', () => {
    const batch = new RecordBatch();
    batch.addMark(1, 2, 3);
    expect(batch.length).toBe(markSize);
    for (const size of [smallestPadding, smallestPadding + 1, 300, 4096]) {
      const before = batch.length;
      batch.addPadding(size);
      expect(batch.length - before).toBe(size);
      const cursor = new RecordCursor().reset(batch.bytes, before + headLength, batch.length);
      expect([cursor.array(), cursor.count(), cursor.bytes(), cursor.done]).toEqual([
        2,
        0,
        new Uint8Array(size - smallestPadding),
        true,
      ]);
    }
  });

  it('refuse records that are too long for their length field', () => {
    const batch = new RecordBatch();
    batch.add([1]);
    const before = batch.bytes.slice();
    expect(() => batch.add([new Uint8Array(1 << 24)])).toThrow(expect.objectContaining({ code: 'message.unbounded' }));
    expect(batch.bytes).toEqual(before);
  });
});

describe('a cursor', () => {
  const encode = (value: Item): Uint8Array => {
    const batch = new RecordBatch();
    batch.add([value]);
    return batch.bytes.slice(headLength + 1);
  };

  it('reads values back', () => {
    const cursor = new RecordCursor();
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.double(), fc.string({ unit: 'binary' }), fc.uint8Array(), (n, x, text, bytes) => {
        expect(cursor.reset(encode(n)).count()).toBe(n);
        expect(cursor.reset(encode(x)).number()).toBe(x);
        expect(cursor.reset(encode(bytes)).bytes()).toEqual(bytes);
        const valid = new TextDecoder().decode(new TextEncoder().encode(text));
        expect(cursor.reset(encode(text)).text()).toBe(valid);
        expect([true, false].map((value) => cursor.reset(encode(value)).boolean())).toEqual([true, false]);
      }),
    );
  });

  it('returns undefined for anything else, and never throws', () => {
    const cursor = new RecordCursor();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), fc.nat(30), (bytes, to) => {
        const end = Math.min(to, bytes.length);
        const read = (): unknown[] => {
          cursor.reset(bytes, 0, end);
          const values = [cursor.array(), cursor.count(), cursor.number(), cursor.boolean(), cursor.bytes()];
          return [...values, cursor.text(), cursor.utf8(), cursor.nothing(), cursor.atText];
        };
        expect(read).not.toThrow();
      }),
    );
  });
});
