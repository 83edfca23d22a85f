/** Unpacks bytes: gzip (RFC 1952), zstd (RFC 8878), deflate without a header (RFC 1951). */
import * as zlib from 'node:zlib';
import { VigieError } from '../../../protocol/errors.ts';
import type { ByteInput } from './input.ts';

/**
 * Number of packed bytes unpacked at a time. Deflate expands a block up to 1,032 times, and all of it must be buffered.
 */
const BLOCK = 16_384;
/** Largest accepted ratio. Good packing reduces a recording to a twentieth; far more is an attack on memory or disk. */
const LARGEST_RATIO = 250;
/** Unpacked size in bytes below which the ratio does not matter. */
const ANY_RATIO = 1024 ** 3;
const LARGEST = 256 * 1024 ** 3;

type Packing = 'gzip' | 'zstd' | 'deflate';

/** Unpacks several members or frames in sequence while reading. Returns the readable part of a truncated file. */
export class UnpackedInput implements ByteInput {
  /** Reason why unpacking ended early, or undefined. */
  broken: string | undefined;
  readonly #packing: Packing;
  readonly #packed: ByteInput;
  readonly #anyRatio: number;
  readonly #unpacked: Uint8Array[] = [];
  #stream: zlib.Gunzip;
  /** Packed bytes that were read but not yet unpacked. */
  #rest: Uint8Array;
  #fed = 0;
  #given = 0;
  #ended = false;
  #failure: unknown;
  #feeding: Promise<void> | undefined;

  /**
   * @param begun bytes already read from `packed`
   * @param anyRatio unpacked size in bytes up to which the ratio does not matter
   * @throws VigieError `input.malformed` if this Node cannot unpack it
   */
  constructor(
    packing: Packing,
    packed: ByteInput,
    begun: Uint8Array = new Uint8Array(0),
    anyRatio: number = ANY_RATIO,
  ) {
    this.#anyRatio = anyRatio;
    this.#packing = packing;
    this.#packed = packed;
    this.#rest = begun;
    this.#stream = this.#begin();
  }

  get size(): number {
    return this.#packed.size;
  }

  get position(): number {
    return this.#packed.position;
  }

  async read(into: Uint8Array): Promise<number> {
    for (;;) {
      const bytes = this.#unpacked[0];
      if (bytes !== undefined) {
        const part = bytes.subarray(0, into.length);
        into.set(part);
        if (part.length === bytes.length) this.#unpacked.shift();
        else this.#unpacked[0] = bytes.subarray(part.length);
        this.#given += part.length;
        this.#bound();
        // Unpack the next bytes while these are read.
        if (this.#unpacked.length === 0 && !this.#ended) void this.#feed();
        return part.length;
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended) return 0;
      await this.#feed();
    }
  }

  async close(): Promise<void> {
    this.#ended = true;
    this.#stream.destroy();
    await this.#packed.close();
  }

  #feed(): Promise<void> {
    this.#feeding ??= this.#step()
      .catch((error: unknown) => {
        this.#failure = error;
      })
      .finally(() => {
        this.#feeding = undefined;
      });
    return this.#feeding;
  }

  #begin(): zlib.Gunzip {
    const stream = unpacker(this.#packing);
    // Store the bytes immediately: the stream's own buffer would be lost if it fails.
    stream.on('data', (bytes: Uint8Array) => this.#unpacked.push(bytes));
    stream.on('error', (error) => {
      this.broken ??= error.message;
      this.#ended = true;
    });
    return stream;
  }

  /** Unpacks the next block. */
  async #step(): Promise<void> {
    if (this.#rest.length === 0) {
      const block = new Uint8Array(BLOCK);
      this.#rest = block.subarray(0, await this.#packed.read(block));
    }
    if (this.#ended) return;
    const stream = this.#stream;
    const bytes = this.#rest.subarray(0, BLOCK);
    this.#rest = this.#rest.subarray(bytes.length);
    const before = stream.bytesWritten;
    await new Promise<void>((resolve) => {
      // After an error, only this event follows.
      stream.once('close', resolve);
      const done = (): void => {
        stream.off('close', resolve);
        resolve();
      };
      // Bytes after the last member end the stream before the input ends.
      if (stream.readableEnded || stream.destroyed) done();
      else if (bytes.length > 0) stream.write(bytes, done);
      else stream.once('end', done).end();
    });
    if (bytes.length === 0 || (stream.readableEnded && this.#packing !== 'zstd')) {
      this.#ended = true;
      this.broken ??= this.#packed.broken;
      return;
    }
    this.#fed += bytes.length;
    const taken = stream.bytesWritten - before;
    // Node's zstd decoder ends after a frame, but others may follow (RFC 8878, 3.1).
    if (this.#packing === 'zstd' && taken < bytes.length && this.broken === undefined) {
      this.#rest = Buffer.concat([bytes.subarray(taken), this.#rest]);
      this.#stream = this.#begin();
    }
  }

  #bound(): void {
    const ratio = this.#given / Math.max(1, this.#fed);
    if (this.#given <= LARGEST && (this.#given <= this.#anyRatio || ratio <= LARGEST_RATIO)) return;
    this.broken =
      this.#given > LARGEST
        ? `they unpack to more than ${LARGEST / 1024 ** 3} GiB`
        : `they unpack to more than ${LARGEST_RATIO} times their size`;
    this.#ended = true;
    this.#unpacked.length = 0;
    this.#stream.destroy();
  }
}

function unpacker(packing: Packing): zlib.Gunzip {
  if (packing === 'gzip') return zlib.createGunzip();
  if (packing === 'deflate') return zlib.createInflateRaw();
  // zstd exists since Node 22.15 and 23.8.
  const create = zlib.createZstdDecompress as typeof zlib.createZstdDecompress | undefined;
  if (create !== undefined) return create();
  throw new VigieError(
    'input.malformed',
    `it is compressed with zstd, which Node ${process.versions.node} cannot unpack: use Node 22.15 or newer, or unpack it (zstd -d)`,
  );
}
