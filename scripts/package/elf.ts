/**
 * Puts the program into Node's executable, where Node looks for it: a note of an ELF file (the gABI's "Note Section")
 * named NODE_SEA_BLOB, and a mark that it is there.
 *
 * No program header is added, since there is no room for one: the last segment that is loaded, the writable data, is
 * prolonged to hold the note, its zeros that were only implied (`.bss`) written out, and the header of the notes that
 * there were points to those and ours. What is not loaded (symbols, sections) is left out, as by strip(1).
 *
 *     [ segments as they were | .bss as zeros | notes as they were | note with the program ]
 */

const PT_LOAD = 1;
const PT_NOTE = 4;

/** Node's name of the note, and the text in its executable whose last character says whether to look for it. */
const NAME = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:';

/** Where the fields of a program header are, and of the file header those that name sections. */
interface Layout {
  readonly word: 4 | 8;
  readonly header: { readonly phoff: number; readonly shoff: number; readonly phentsize: number };
  readonly program: {
    readonly offset: number;
    readonly vaddr: number;
    readonly paddr: number;
    readonly filesz: number;
    readonly memsz: number;
  };
}

const layouts: Readonly<Record<number, Layout>> = {
  1: {
    word: 4,
    header: { phoff: 28, shoff: 32, phentsize: 42 },
    program: { offset: 4, vaddr: 8, paddr: 12, filesz: 16, memsz: 20 },
  },
  2: {
    word: 8,
    header: { phoff: 32, shoff: 40, phentsize: 54 },
    program: { offset: 8, vaddr: 16, paddr: 24, filesz: 32, memsz: 40 },
  },
};

/**
 * Gives Node's executable with a program (a blob that `--experimental-sea-config` made) in it.
 * @throws Error when it is no little-endian ELF file, or none that Node made for this
 */
export function withProgram(node: Uint8Array, program: Uint8Array): Uint8Array {
  const elf = new ElfFile(node);
  const data = elf
    .segments(PT_LOAD)
    .reduce((last, next) => (elf.get(next, 'vaddr') > elf.get(last, 'vaddr') ? next : last));
  const [notes, ...more] = elf.segments(PT_NOTE);
  if (notes === undefined || more.length > 0)
    throw new Error(`${more.length + 1} segments of notes; exactly one is known`);
  const [from, address] = [elf.get(data, 'offset'), elf.get(data, 'vaddr')];
  if (elf.segments(PT_LOAD).some((other) => elf.get(other, 'offset') > from))
    throw new Error('data are not last in the file');

  const before = from + elf.get(data, 'filesz');
  const place = aligned(from + elf.get(data, 'memsz'));
  const kept = node.subarray(elf.get(notes, 'offset'), elf.get(notes, 'offset') + elf.get(notes, 'filesz'));
  const ours = noteOf(program);
  const whole = new Uint8Array(place + aligned(kept.length) + ours.length);
  whole.set(node.subarray(0, before));
  whole.set(kept, place);
  whole.set(ours, place + aligned(kept.length));

  const result = new ElfFile(whole);
  for (const size of ['filesz', 'memsz'] as const) {
    result.set(data, size, whole.length - from);
    result.set(notes, size, whole.length - place);
  }
  result.set(notes, 'offset', place);
  for (const at of ['vaddr', 'paddr'] as const) result.set(notes, at, address + place - from);
  result.forgetSections();
  lightFuse(whole.subarray(0, before));
  return whole;
}

/** Name and contents with their lengths before them, each filled up to words of 4 bytes. */
function noteOf(contents: Uint8Array): Uint8Array {
  const name = new TextEncoder().encode(`${NAME}\0`);
  const note = new Uint8Array(12 + aligned(name.length) + aligned(contents.length));
  const view = new DataView(note.buffer);
  view.setUint32(0, name.length, true);
  view.setUint32(4, contents.length, true);
  note.set(name, 12);
  note.set(contents, 12 + aligned(name.length));
  return note;
}

function aligned(size: number): number {
  return Math.ceil(size / 4) * 4;
}

function lightFuse(bytes: Uint8Array): void {
  const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const at = found.indexOf(`${FUSE}0`);
  if (at < 0 || found.indexOf(FUSE, at + 1) >= 0) throw new Error('it is no Node that takes a program, or has one');
  found.write('1', at + FUSE.length);
}

class ElfFile {
  readonly #view: DataView;
  readonly #layout: Layout;
  readonly #headers: readonly number[];

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const layout = layouts[bytes[4] ?? 0];
    // EI_DATA 1: little-endian.
    if (bytes.length < 64 || this.#view.getUint32(0) !== 0x7f454c46 || bytes[5] !== 1 || layout === undefined) {
      throw new Error('it is no little-endian ELF file');
    }
    this.#layout = layout;
    const { phoff, phentsize } = layout.header;
    const first = this.#word(phoff);
    const size = this.#view.getUint16(phentsize, true);
    const count = this.#view.getUint16(phentsize + 2, true);
    this.#headers = Array.from({ length: count }, (_, i) => first + i * size);
  }

  /** Program headers of a type, by where they are. */
  segments(type: number): readonly number[] {
    return this.#headers.filter((header) => this.#view.getUint32(header, true) === type);
  }

  get(header: number, field: keyof Layout['program']): number {
    return this.#word(header + this.#layout.program[field]);
  }

  set(header: number, field: keyof Layout['program'], value: number): void {
    this.#setWord(header + this.#layout.program[field], value);
  }

  /** e_shoff, and e_shentsize, e_shnum and e_shstrndx behind e_phnum. */
  forgetSections(): void {
    const { shoff, phentsize } = this.#layout.header;
    this.#setWord(shoff, 0);
    for (const place of [4, 6, 8]) this.#view.setUint16(phentsize + place, 0, true);
  }

  #word(place: number): number {
    return this.#layout.word === 4 ? this.#view.getUint32(place, true) : Number(this.#view.getBigUint64(place, true));
  }

  #setWord(place: number, value: number): void {
    if (this.#layout.word === 4) this.#view.setUint32(place, value, true);
    else this.#view.setBigUint64(place, BigInt(value), true);
  }
}
