import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadedPart } from '../../../scripts/package/elf.ts';

const [PT_LOAD, PT_NOTE] = [1, 4];

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly vaddr: number;
  readonly filesz: number;
  readonly memsz: number;
}

/** An ELF file as a linker makes it: code, data followed by zeros, a note before both, and sections at the end. */
function executable(bits: 32 | 64, { data = 100, zeros = 37 } = {}): Buffer {
  const [header, entry] = bits === 64 ? [64, 56] : [52, 32];
  const segments: Segment[] = [
    { type: PT_LOAD, offset: 0, vaddr: 0x400000, filesz: 0x400, memsz: 0x400 },
    { type: PT_LOAD, offset: 0x400, vaddr: 0x601400, filesz: data, memsz: data + zeros },
    { type: PT_NOTE, offset: 0x200, vaddr: 0x400200, filesz: 32, memsz: 32 },
  ];
  const file = Buffer.alloc(0x400 + data + 500, 0xee);
  file.fill(0, 0, 0x400);
  file.write('\x7fELF', 0, 'latin1');
  file[4] = bits / 32;
  file[5] = 1;
  const word = (value: number, place: number): void => {
    if (bits === 64) file.writeBigUInt64LE(BigInt(value), place);
    else file.writeUInt32LE(value, place);
  };
  word(header, bits === 64 ? 32 : 28);
  word(0x400 + data + 100, bits === 64 ? 40 : 32);
  const counts = bits === 64 ? 54 : 42;
  for (const [i, value] of [entry, segments.length, 64, 30, 29].entries()) file.writeUInt16LE(value, counts + 2 * i);
  for (const [i, { type, offset, vaddr, filesz, memsz }] of segments.entries()) {
    const place = header + i * entry;
    file.writeUInt32LE(type, place);
    const first = bits === 64 ? 8 : 4;
    for (const [k, value] of [offset, vaddr, vaddr, filesz, memsz].entries())
      word(value, place + first + (k * bits) / 8);
  }
  file.write('note as it was, of 32 bytes.....', 0x200);
  return file;
}

/** Segments of a file, read by code independent of the tested code. */
function segmentsOf(file: Buffer): Segment[] {
  const wide = file[4] === 2;
  const word = (place: number): number => (wide ? Number(file.readBigUInt64LE(place)) : file.readUInt32LE(place));
  const first = word(wide ? 32 : 28);
  const [entry, count] = [file.readUInt16LE(wide ? 54 : 42), file.readUInt16LE(wide ? 56 : 44)];
  return Array.from({ length: count }, (_, i) => {
    const at = (k: number): number => word(first + i * entry + (wide ? 8 + 8 * k : 4 + 4 * k));
    return { type: file.readUInt32LE(first + i * entry), offset: at(0), vaddr: at(1), filesz: at(3), memsz: at(4) };
  });
}

describe.each([32, 64] as const)('an executable of %i bits', (bits) => {
  test('a stripped executable keeps every loaded byte except the section names', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 0, max: 300 }), (data, zeros) => {
        const before = executable(bits, { data, zeros });
        const after = Buffer.from(loadedPart(before));
        expect(segmentsOf(after)).toEqual(segmentsOf(before));
        expect(after.length).toBe(0x400 + data);
        const [shoff, word, counts] = bits === 64 ? [40, 8, 54] : [32, 4, 42];
        const named = [
          [shoff, shoff + word],
          [counts + 4, counts + 10],
        ] as const;
        for (const [from, to] of named) {
          expect(after.subarray(from, to).every((byte) => byte === 0)).toBe(true);
          before.fill(0, from, to);
        }
        expect(after.equals(before.subarray(0, after.length))).toBe(true);
      }),
    );
  });

  test('stripping does not change its input', () => {
    const before = executable(bits);
    const copy = Buffer.from(before);
    loadedPart(before);
    expect(before.equals(copy)).toBe(true);
  });

  test('an executable without loaded segments is refused', () => {
    const file = executable(bits);
    const header = bits === 64 ? 64 : 52;
    for (const i of [0, 1]) file.writeUInt32LE(PT_NOTE, header + i * (bits === 64 ? 56 : 32));
    expect(() => loadedPart(file)).toThrow('an ELF file without a segment to load');
  });
});

test('a file that is not ELF is refused', () => {
  const script = readFileSync(join(fileURLToPath(import.meta.url)));
  expect(() => loadedPart(script)).toThrow('not a little-endian ELF file');
});
