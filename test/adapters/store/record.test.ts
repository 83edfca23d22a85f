import { Decoder } from 'cbor-x';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Item, RecordBatch } from '../../../adapters/store/batch.ts';
import { crc32c } from '../../../adapters/store/crc32c.ts';
import { scanSegment, segmentMark } from '../../../adapters/store/record.ts';

describe('CRC-32C', () => {
  it('agrees with RFC 3720 appendix B.4', () => {
    expect(crc32c(new Uint8Array(32))).toBe(0x8a91_36aa);
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8_ab43);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd_794e);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => 31 - i))).toBe(0x113f_db5c);
  });

  it('goes on where it stopped', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        const whole = Uint8Array.of(...a, ...b);
        expect(crc32c(b, 0, b.length, crc32c(a))).toBe(crc32c(whole));
        expect(crc32c(whole, a.length)).toBe(crc32c(b));
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

function segmentOf(batch: RecordBatch, zeros: number): Uint8Array {
  return Uint8Array.of(...segmentMark, ...batch.bytes, ...new Uint8Array(zeros));
}

describe('records', () => {
  const decoder = new Decoder({ useRecords: false });

  it('come back from CBOR as they were, whatever they hold', () => {
    fc.assert(
      fc.property(records, fc.nat(64), (written, zeros) => {
        const batch = new RecordBatch();
        for (const record of written) batch.add(record);
        const read: unknown[] = [];
        const scan = scanSegment(segmentOf(batch, zeros), (payload) => read.push(decoder.decode(payload)));
        expect(read).toEqual(written);
        const end = segmentMark.length + batch.length;
        expect(scan).toEqual({ records: written.length, damaged: 0, torn: false, end });
      }),
    );
  });

  it('are found again behind any damage', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 3, maxLength: 8 });
    fc.assert(
      fc.property(sizes, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 20 }), (lengths, where, noise) => {
        const batch = new RecordBatch();
        const ends = lengths.map((length, i) => {
          batch.add([i, new Uint8Array(length).fill(i)]);
          return segmentMark.length + batch.length;
        });
        const bytes = segmentOf(batch, 16);
        const at = where % bytes.length;
        const before = bytes.slice();
        bytes.set(noise.subarray(0, bytes.length - at), at);
        const read: number[] = [];
        const scan = scanSegment(bytes, (payload) => read.push((decoder.decode(payload) as number[])[0]!));
        const untouched = lengths.flatMap((_, i) => {
          const from = ends[i - 1] ?? segmentMark.length;
          return bytes.subarray(from, ends[i]).every((byte, k) => byte === before[from + k]) ? [i] : [];
        });
        expect(read).toEqual(untouched);
        if (untouched.length < lengths.length) expect(scan.damaged + Number(scan.torn)).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });

  it('may not be longer than their length field can say', () => {
    const batch = new RecordBatch();
    batch.add([1]);
    const before = batch.bytes.slice();
    expect(() => batch.add([new Uint8Array(1 << 24)])).toThrow(expect.objectContaining({ code: 'message.unbounded' }));
    expect(batch.bytes).toEqual(before);
  });

  it('are not looked for in bytes of chance', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4000 }), (bytes) => {
        const scan = scanSegment(bytes, () => expect.unreachable());
        expect(scan.records).toBe(0);
        expect(scan.torn).toBe(bytes.some((byte) => byte !== 0));
      }),
    );
  });
});
