/**
 * Reads single records. Because records are mostly read in the order in which they were written, the reader loads and
 * caches a piece of the file at a time.
 */
import type { Log } from '../../agent/ports.ts';
import { type FileSystem, type OpenFile, unreadable } from './files.ts';
import { headLength, recordAt } from './record.ts';
import type { Segment } from './segment.ts';

/** Size of a piece in bytes. */
const pieceBytes = 64 << 10;
/** Maximum number of cached pieces: messages of several classes and lists of records are read concurrently. */
const mostPieces = 4;
const mostFiles = 4;

interface Piece {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
  readonly bytes: Uint8Array;
}

export class SegmentReader {
  readonly #files: FileSystem;
  readonly #log: Log | undefined;
  /** Cached pieces, most recently used last. */
  #pieces: Piece[] = [];
  #open: { readonly segment: Segment; readonly file: OpenFile }[] = [];

  constructor(files: FileSystem, log: Log | undefined) {
    this.#files = files;
    this.#log = log;
  }

  /**
   * Returns the record at `offset`, head included; valid until the next read. Undefined if it is damaged. Throws
   * `store.unreadable`, naming the file, if the disk fails to return it.
   */
  read(segment: Segment, offset: number, size: number): Uint8Array | undefined {
    const piece = this.#piece(segment, offset, size);
    const at = offset - piece.from;
    if (at + size > piece.to - piece.from) return undefined;
    const length = recordAt(piece.bytes, at, at + size, segment.seed);
    return length === size - headLength ? piece.bytes.subarray(at, at + size) : undefined;
  }

  /** Fills `into` with the segment's bytes from `offset` on and returns how many it read. Throws like {@link read}. */
  fill(segment: Segment, offset: number, into: Uint8Array): number {
    try {
      return this.#file(segment).read(into.subarray(0, Math.max(0, segment.used - offset)), offset);
    } catch (cause) {
      this.forget(segment);
      throw unreadable(segment.path, cause);
    }
  }

  /** Drops cached pieces of a segment and closes its file before the segment is removed. */
  forget(segment: Segment): void {
    this.#pieces = this.#pieces.filter((piece) => piece.segment !== segment);
    const gone = this.#open.filter((one) => one.segment === segment);
    this.#open = this.#open.filter((one) => one.segment !== segment);
    for (const { file } of gone) this.#close(file);
  }

  close(): void {
    for (const { file } of this.#open) this.#close(file);
    this.#open = [];
    this.#pieces = [];
  }

  #piece(segment: Segment, offset: number, size: number): Piece {
    const i = this.#pieces.findIndex(
      (piece) => piece.segment === segment && piece.from <= offset && offset + size <= piece.to,
    );
    if (i >= 0) {
      const piece = this.#pieces[i]!;
      if (i < this.#pieces.length - 1) this.#pieces.push(...this.#pieces.splice(i, 1));
      return piece;
    }
    // Reuse the memory of the oldest piece, unless it was allocated for a long record.
    const oldest = this.#pieces.length < mostPieces ? undefined : this.#pieces.shift();
    const again = oldest !== undefined && oldest.bytes.length === pieceBytes && size <= pieceBytes;
    // For a short file, do not allocate a full piece.
    const least = Math.min(pieceBytes, Math.max(0, segment.used - offset));
    const bytes = again ? oldest.bytes : new Uint8Array(Math.max(least, size));
    const piece = { segment, from: offset, to: offset + this.fill(segment, offset, bytes), bytes };
    this.#pieces.push(piece);
    return piece;
  }

  #file(segment: Segment): OpenFile {
    const open = this.#open.find((one) => one.segment === segment);
    if (open !== undefined) return open.file;
    const file = this.#files.open(segment.path, 'read');
    if (this.#open.length >= mostFiles) this.#close(this.#open.shift()!.file);
    this.#open.push({ segment, file });
    return file;
  }

  #close(file: OpenFile): void {
    try {
      file.close();
    } catch (error) {
      this.#log?.warn('store.close', { file: file.path, error: String(error) });
    }
  }
}
