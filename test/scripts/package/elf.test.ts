import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withProgram } from '../../../scripts/package/elf.ts';

const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:';
const [PT_LOAD, PT_NOTE] = [1, 4];

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly vaddr: number;
  readonly filesz: number;
  readonly memsz: number;
}

/** A file as a linker would make it: code, data with zeros behind, a note before both, and sections at the end. */
function executable(bits: 32 | 64, { fuse = `${FUSE}0`, notes = 1, data = 100, zeros = 37 } = {}): Buffer {
  const [header, entry] = bits === 64 ? [64, 56] : [52, 32];
  const segments: Segment[] = [
    { type: PT_LOAD, offset: 0, vaddr: 0x400000, filesz: 0x400, memsz: 0x400 },
    { type: PT_LOAD, offset: 0x400, vaddr: 0x601400, filesz: data, memsz: data + zeros },
    ...Array.from({ length: notes }, () => ({ type: PT_NOTE, offset: 0x200, vaddr: 0x400200, filesz: 32, memsz: 32 })),
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
  file.write(fuse, 0x300);
  return file;
}

/** The segments of a file, read with other code than that which is tested. */
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

/** What Node does when it looks for its program: walks through the notes as they lie in memory. */
function programIn(file: Buffer): Buffer | undefined {
  const note = segmentsOf(file).find(({ type }) => type === PT_NOTE) as Segment;
  const loaded = segmentsOf(file).find(
    ({ type, vaddr, filesz }) => type === PT_LOAD && note.vaddr >= vaddr && note.vaddr + note.filesz <= vaddr + filesz,
  ) as Segment;
  let place = loaded.offset + note.vaddr - loaded.vaddr;
  const end = place + note.memsz;
  // The note that was there is text here, 32 bytes long.
  place += 32;
  while (place < end) {
    const [names, size] = [file.readUInt32LE(place), file.readUInt32LE(place + 4)];
    const contents = place + 12 + Math.ceil(names / 4) * 4;
    if (file.toString('latin1', place + 12, place + 12 + names) === 'NODE_SEA_BLOB\0') {
      return file.subarray(contents, contents + size);
    }
    place = contents + Math.ceil(size / 4) * 4;
  }
  return undefined;
}

describe.each([32, 64] as const)('an executable of %i bits', (bits) => {
  it('carries any program where Node looks for it, and all that was loaded before', () => {
    const sizes = { data: fc.integer({ min: 1, max: 300 }), zeros: fc.integer({ min: 0, max: 300 }) };
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 500 }), fc.record(sizes), (program, { data, zeros }) => {
        const before = executable(bits, { data, zeros });
        const after = Buffer.from(withProgram(before, program));
        expect(programIn(after)?.equals(program)).toBe(true);
        const [, old] = segmentsOf(before);
        const [code, loaded] = segmentsOf(after);
        expect(code).toEqual(segmentsOf(before)[0]);
        expect(loaded?.filesz).toBe(loaded?.memsz);
        const { offset, filesz, memsz } = old as Segment;
        expect(after.subarray(offset, offset + filesz).equals(before.subarray(offset, offset + filesz))).toBe(true);
        expect(after.subarray(offset + filesz, offset + memsz).every((byte) => byte === 0)).toBe(true);
      }),
    );
  });

  it('is told that there is a program, and has no sections left that would lead nowhere', () => {
    const after = Buffer.from(withProgram(executable(bits), Buffer.from('program')));
    expect(after.includes(`${FUSE}1`)).toBe(true);
    expect(after.includes(`${FUSE}0`)).toBe(false);
    const [shoff, counts] = bits === 64 ? [40, 54] : [32, 42];
    expect(after.readUInt32LE(shoff)).toBe(0);
    expect([after.readUInt16LE(counts + 6), after.readUInt16LE(counts + 8)]).toEqual([0, 0]);
  });

  it('leaves what it was given as it was', () => {
    const before = executable(bits);
    const copy = Buffer.from(before);
    withProgram(before, Buffer.from('program'));
    expect(before.equals(copy)).toBe(true);
  });

  it('is refused when it is not what Node makes', () => {
    const program = Buffer.from('program');
    expect(() => withProgram(executable(bits, { fuse: 'none' }), program)).toThrow(/no Node/);
    expect(() => withProgram(executable(bits, { fuse: `${FUSE}1` }), program)).toThrow(/or has one/);
    expect(() => withProgram(executable(bits, { notes: 2 }), program)).toThrow(/2 segments of notes/);
    expect(() => withProgram(executable(bits, { notes: 0 }), program)).toThrow(/segments of notes/);
  });
});

it('is no ELF file', () => {
  const script = readFileSync(join(fileURLToPath(import.meta.url)));
  expect(() => withProgram(script, Buffer.from('program'))).toThrow('it is no little-endian ELF file');
});
