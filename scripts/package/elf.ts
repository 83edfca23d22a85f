/**
 * Extracts the parts of an executable that are loaded into memory, without symbols and sections: in Node's executables
 * these take 18 MB, and pkg keeps them. Does the same as `strip --strip-section-headers` of binutils 2.41, but for
 * every architecture.
 */

const PT_LOAD = 1;

/** Offsets of fields in the file header (e_phoff, e_shoff, e_phentsize) and in a program header (gABI, chapter 4). */
interface Layout {
  readonly word: 4 | 8;
  readonly header: { readonly phoff: number; readonly shoff: number; readonly phentsize: number };
  readonly program: { readonly offset: number; readonly filesz: number };
}

/** Layouts by EI_CLASS. */
const layouts: Readonly<Record<number, Layout>> = {
  1: { word: 4, header: { phoff: 28, shoff: 32, phentsize: 42 }, program: { offset: 4, filesz: 16 } },
  2: { word: 8, header: { phoff: 32, shoff: 40, phentsize: 54 }, program: { offset: 8, filesz: 32 } },
};

/**
 * Returns the file up to the end of its last segment, with a header that refers to no sections.
 * @throws Error if the file is not a little-endian ELF file or has no segment to load
 */
export function loadedPart(file: Uint8Array): Uint8Array {
  const layout = layouts[file[4] ?? 0];
  const from = new DataView(file.buffer, file.byteOffset, file.length);
  // EI_DATA 1: little-endian.
  if (file.length < 64 || from.getUint32(0) !== 0x7f454c46 || file[5] !== 1 || layout === undefined) {
    throw new Error('not a little-endian ELF file');
  }
  const { word, header, program } = layout;
  const wordAt = (at: number): number => (word === 4 ? from.getUint32(at, true) : Number(from.getBigUint64(at, true)));
  const first = wordAt(header.phoff);
  const size = from.getUint16(header.phentsize, true);
  const count = from.getUint16(header.phentsize + 2, true);
  const ends = Array.from({ length: count }, (_, i) => first + i * size)
    .filter((segment) => from.getUint32(segment, true) === PT_LOAD)
    .map((segment) => wordAt(segment + program.offset) + wordAt(segment + program.filesz));
  if (ends.length === 0) throw new Error('an ELF file without a segment to load');

  const part = new Uint8Array(file.subarray(0, Math.max(...ends)));
  part.fill(0, header.shoff, header.shoff + word);
  // e_shentsize, e_shnum and e_shstrndx follow e_phentsize and e_phnum.
  part.fill(0, header.phentsize + 4, header.phentsize + 10);
  return part;
}
