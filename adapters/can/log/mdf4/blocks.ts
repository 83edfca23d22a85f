/**
 * The blocks that an MDF4 file consists of (ASAM MDF 4.1 §5.2):
 *
 *     0  '##XX'   8  length (64 bit)   16  count of links (64 bit)   24  links (64 bit each)   …  data
 *
 * Links are positions in the file; 0 means no link.
 */
import type { LogFile } from '../input.ts';

/** Bytes before the links of a block. */
export const HEAD = 24;
/** Minimum number of bytes per read, because related blocks are usually close together in the file. */
const WINDOW = 64 * 1024;
/** Largest block that is kept in memory. A list of a million blocks has 8 MiB. */
const LARGEST = 16 * 1024 * 1024;
/** Maximum number of bytes of a name or comment that are read. */
const LONGEST_TEXT = 1024;
const TWO_32 = 4_294_967_296;

/** The file violates the format. The message has the details. */
export class Damage extends Error {}

interface BlockHead {
  /** Two letters. */
  readonly id: string;
  readonly position: number;
  readonly length: number;
  readonly linkCount: number;
}

export interface Block extends BlockHead {
  readonly links: readonly number[];
  readonly data: DataView;
}

export class Blocks {
  readonly size: number;
  /** End of the last bytes that were read. */
  position = 0;
  readonly #file: LogFile;
  #window = new Uint8Array(0);
  #start = 0;

  constructor(file: LogFile) {
    this.#file = file;
    this.size = file.size;
  }

  /** Returns bytes of the file; fewer at its end. They are valid until the next call. */
  async bytes(position: number, length: number): Promise<Uint8Array> {
    if (position < this.#start || position + length > this.#start + this.#window.length) {
      const wanted = Math.max(0, Math.min(Math.max(length, WINDOW), this.size - position));
      const window = new Uint8Array(wanted);
      this.#window = window.subarray(0, await this.#file.read(window, position));
      this.#start = position;
      this.position = position + this.#window.length;
    }
    return this.#window.subarray(position - this.#start, position - this.#start + length);
  }

  /** Fills `into` with bytes of the file. Returns the number of bytes that were read. */
  async read(into: Uint8Array, position: number): Promise<number> {
    const count = await this.#file.read(into, position);
    this.position = position + count;
    return count;
  }

  /** @throws Damage if there is no block */
  async head(position: number): Promise<BlockHead> {
    const bytes = await this.bytes(position, HEAD);
    if (bytes.length < HEAD)
      throw new Damage(`a block at byte ${position} lies behind the end of the file (was it cut?)`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, HEAD);
    if (view.getUint16(0) !== 0x2323) throw new Damage(`there is no block at byte ${position}`);
    return {
      id: String.fromCharCode(view.getUint8(2), view.getUint8(3)),
      position,
      length: number64(view, 8),
      linkCount: number64(view, 16),
    };
  }

  /**
   * Reads a whole block.
   * @param ids accepted block identifiers
   * @param data minimum number of bytes after its links
   * @throws Damage if there is no such block
   */
  async block(position: number, ids: readonly string[], links: number, data: number): Promise<Block> {
    const head = await this.head(position);
    const { id, length, linkCount } = head;
    const at = `at byte ${position}`;
    if (!ids.includes(id)) throw new Damage(`the block ${at} is ##${id} instead of ##${ids.join(' or ##')}`);
    if (linkCount < links || length < HEAD + 8 * linkCount + data) throw new Damage(`the ##${id} ${at} is too small`);
    if (length > LARGEST) throw new Damage(`the ##${id} ${at} claims ${length} bytes`);
    const bytes = (await this.bytes(position, length)).slice();
    if (bytes.length < length) throw new Damage(`the file ends within the ##${id} ${at}`);
    const view = new DataView(bytes.buffer);
    const found = Array.from({ length: linkCount }, (_, i) => number64(view, HEAD + 8 * i));
    return { ...head, links: found, data: new DataView(bytes.buffer, HEAD + 8 * linkCount) };
  }

  /** Returns the text of a ##TX or ##MD block, or an empty string. */
  async text(position: number): Promise<string> {
    if (position === 0) return '';
    const { id, length, linkCount } = await this.head(position);
    if (id !== 'TX' && id !== 'MD') return '';
    const from = HEAD + 8 * linkCount;
    const wanted = Math.max(0, Math.min(length - from, LONGEST_TEXT));
    const bytes = await this.bytes(position + from, wanted);
    if (bytes.length < wanted) throw new Damage(`the file ends within the ##${id} at byte ${position}`);
    const end = bytes.indexOf(0);
    return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
  }

  /** Yields the blocks of a chain: the first link of each block leads to the next. */
  async *chain(first: number, id: string, links: number, data: number): AsyncGenerator<Block> {
    const seen = new Set<number>();
    for (let position = first; position !== 0; ) {
      if (seen.has(position)) throw new Damage(`the ##${id} at byte ${position} is linked in a circle`);
      seen.add(position);
      const block = await this.block(position, [id], links, data);
      yield block;
      position = block.links[0] as number;
    }
  }
}

/** Returns an unsigned number of 64 bits, exact up to 2^53. */
export function number64(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * TWO_32 + view.getUint32(at, true);
}
