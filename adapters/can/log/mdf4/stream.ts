/**
 * The bytes of records or of signal data: in one block, or in the blocks of a list, plain or compressed (ASAM MDF 4.1
 * §5.18 to §5.28, 4.2 for ##LD and ##DV, 4.3 for zstd).
 */
import * as zlib from 'node:zlib';
import { type Blocks, Damage, HEAD, number64 } from './blocks.ts';
import { LAST_LENGTH } from './layout.ts';

/** Number of bytes of a plain block read at a time. */
const PIECE = 512 * 1024;
/** Largest compressed block in bytes, packed or unpacked; writers make blocks of 4 MiB, as the standard recommends. */
const LARGEST = 128 * 1024 * 1024;
/** Size in bytes of the fields between the head and the data of a compressed block. */
const DZ_HEAD = 24;
const plain: readonly string[] = ['DT', 'DV', 'SD', 'RD'];

export class DataStream {
  /** Reason why the bytes end early, or undefined. */
  cut: string | undefined;
  readonly #blocks: Blocks;
  readonly #unfinished: number;
  readonly #positions: AsyncGenerator<number>;
  /** Start and end of the rest of the current plain block. */
  #from = 0;
  #to = 0;
  #expected = 0;
  readonly #buffer = { bytes: new Uint8Array(0) };

  /** @param link 0 if there are no bytes */
  constructor(blocks: Blocks, link: number, unfinished: number) {
    this.#blocks = blocks;
    this.#unfinished = unfinished;
    this.#positions = this.#list(link, 0);
  }

  /** Returns the next bytes, valid until the next call, or undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    while (this.cut === undefined) {
      if (this.#from < this.#to) {
        const bytes = await this.#piece();
        if (bytes.length > 0) return bytes;
        continue;
      }
      try {
        const { value, done } = await this.#positions.next();
        if (done === true) return undefined;
        const bytes = await this.#open(value);
        if (bytes !== undefined && bytes.length > 0) return bytes;
      } catch (error) {
        if (!(error instanceof Damage)) throw error;
        this.cut = error.message;
      }
    }
    return undefined;
  }

  /** Yields the positions of the data blocks in order. */
  async *#list(link: number, depth: number): AsyncGenerator<number> {
    if (link === 0) return;
    const { id } = await this.#blocks.head(link);
    if (id === 'HL' && depth === 0) {
      const block = await this.#blocks.block(link, ['HL'], 1, 0);
      yield* this.#list(block.links[0] as number, 1);
    } else if (id === 'DL' || id === 'LD') {
      for await (const { links, data } of this.#blocks.chain(link, id, 1, 8)) {
        // In a columnar list, the second half of the links leads to invalidation bits.
        const count = Math.min(links.length - 1, data.getUint32(4, true));
        // An unfinished list has unused entries.
        for (const position of links.slice(1, 1 + count)) if (position !== 0) yield position;
      }
    } else yield link;
  }

  /** Opens a block. Returns its bytes immediately if it is compressed. */
  async #open(position: number): Promise<Uint8Array | undefined> {
    const head = await this.#blocks.head(position);
    if (head.id === 'DZ') return this.#unpack(position, head.length);
    if (!plain.includes(head.id))
      throw new Damage(`the block at byte ${position} is ##${head.id}, which holds no data`);
    this.#from = position + HEAD;
    this.#to = Math.max(this.#from, position + head.length);
    if ((this.#unfinished & LAST_LENGTH) !== 0 && !(await this.#isFollowed(this.#to))) this.#to = this.#blocks.size;
    this.#expected = this.#to;
    return undefined;
  }

  /**
   * Returns true if another block or the end of the file follows at the next multiple of 8 bytes: the length is then
   * right.
   */
  async #isFollowed(end: number): Promise<boolean> {
    const next = Math.ceil(end / 8) * 8;
    if (end >= this.#blocks.size) return true;
    const bytes = await this.#blocks.bytes(next, 4);
    return bytes[0] === 0x23 && bytes[1] === 0x23 && (bytes[2] ?? 0) >= 65 && (bytes[3] ?? 0) >= 65;
  }

  async #piece(): Promise<Uint8Array> {
    const wanted = Math.min(PIECE, this.#to - this.#from);
    const bytes = this.#room(wanted);
    const count = await this.#blocks.read(bytes, this.#from);
    this.#from += count;
    if (count < wanted) {
      this.cut = `the file ends ${this.#expected - this.#from} bytes before its data do (was it cut?)`;
    }
    return bytes.subarray(0, count);
  }

  /** Unpacks a ##DZ block: type of the original (2 letters), method at 2, parameter at 4, lengths at 8 and 16. */
  async #unpack(position: number, length: number): Promise<Uint8Array> {
    const blocks = this.#blocks;
    const at = `the compressed block at byte ${position}`;
    const head = (await blocks.bytes(position + HEAD, DZ_HEAD)).slice();
    if (head.length < DZ_HEAD) throw new Damage(`the file ends within ${at}`);
    const view = new DataView(head.buffer);
    const method = view.getUint8(2);
    const columns = view.getUint32(4, true);
    const size = number64(view, 8);
    const packedSize = number64(view, 16);
    if (size > LARGEST || packedSize > LARGEST) throw new Damage(`${at} claims ${Math.max(size, packedSize)} bytes`);
    if (packedSize > length - HEAD - DZ_HEAD) throw new Damage(`${at} claims more bytes than it has`);
    const packed = new Uint8Array(packedSize);
    const there = await blocks.read(packed, position + HEAD + DZ_HEAD);
    const transposed = method === 1 || method === 3;
    const unpacked = unpack(packed.subarray(0, there), method, size, at);
    if (unpacked.length < size) {
      this.cut = there < packedSize ? `the file ends within ${at}` : `${at} has ${unpacked.length} of ${size} bytes`;
      // Rows can be restored only from all columns.
      if (transposed) return new Uint8Array(0);
    }
    return transposed && columns > 1 ? rows(unpacked, columns) : unpacked;
  }

  #room(size: number): Uint8Array {
    if (this.#buffer.bytes.length < size) this.#buffer.bytes = new Uint8Array(size);
    return this.#buffer.bytes.subarray(0, size);
  }
}

/**
 * Unpacks by zip_type: 0 deflate, 1 transposed deflate, 2 zstd, 3 transposed zstd. Rejects others, such as LZ4 (4, 5).
 */
function unpack(packed: Uint8Array, method: number, size: number, at: string): Uint8Array {
  if (method > 3)
    throw new Damage(`${at} is compressed by ${method > 5 ? `method ${method}` : 'LZ4'}, which is not read`);
  const decompress = method < 2 ? zlib.inflateSync : (zlib.zstdDecompressSync as typeof zlib.inflateSync | undefined);
  if (decompress === undefined) {
    throw new Damage(`${at} is compressed with zstd, which Node ${process.versions.node} cannot unpack`);
  }
  try {
    // A truncated block is unpacked up to its end.
    const rest = method < 2 ? { finishFlush: zlib.constants.Z_SYNC_FLUSH } : {};
    return decompress(packed, { maxOutputLength: Math.max(1, size), ...rest });
  } catch (error) {
    throw new Damage(`${at} cannot be unpacked: ${(error as Error).message}`);
  }
}

/** Converts consecutive columns back to rows; bytes of an incomplete row follow unchanged (§5.26.2). */
function rows(bytes: Uint8Array, columns: number): Uint8Array {
  const count = Math.floor(bytes.length / columns);
  // A damaged block may claim four thousand million columns.
  if (count === 0) return bytes;
  const result = new Uint8Array(bytes.length);
  for (let column = 0, from = 0; column < columns; column++) {
    for (let to = column, row = 0; row < count; row++, to += columns) result[to] = bytes[from++] as number;
  }
  result.set(bytes.subarray(count * columns), count * columns);
  return result;
}
