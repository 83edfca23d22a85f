/**
 * A lowdb adapter that replaces a whole document atomically: temporary file, fsync, rename, fsync of the directory.
 * The previous generation stays as `<name>.previous`. The file contains the CRC-32C of its document:
 *
 * - JSON: `{"crc32c":"<8 hexadecimal digits>","data":<document>}` and a line end, the CRC over the document's JSON;
 * - CBOR: a sequence of two items, the CRC as a 32-bit unsigned integer (`1a` and 4 bytes) and the document.
 */
import { basename, dirname, join } from 'node:path';
import { Decoder, Encoder } from 'cbor-x/index-no-eval';
import type { Adapter } from 'lowdb';
import type { Log } from '../../agent/ports.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { isReadFailure } from '../../protocol/read-failure.ts';
import { crc32c } from './crc32c.ts';
import { type FileSystem, nodeFileSystem, unreadable } from './files.ts';

export interface DurableOptions<T> {
  /** Default: JSON. Use CBOR if the document contains byte strings. */
  readonly format?: 'json' | 'cbor';
  /** Returns the document if `data` is valid, otherwise undefined (corrupt file). If omitted, all data is valid. */
  readonly accept?: (data: unknown) => T | undefined;
  readonly log?: Log;
  readonly files?: FileSystem;
}

interface Format {
  seal(data: unknown): Uint8Array;
  /** Returns the document. Throws if the bytes are not a sealed document. */
  open(bytes: Uint8Array): unknown;
}

const jsonHead = /^\{"crc32c":"([0-9a-f]{8})","data":/;
const jsonTail = '}\n';

const json: Format = {
  seal(data) {
    const text: string | undefined = JSON.stringify(data);
    if (text === undefined) throw new VigieError('input.malformed', `${typeof data} cannot be written as JSON`);
    const crc = crc32c(new TextEncoder().encode(text)).toString(16).padStart(8, '0');
    return new TextEncoder().encode(`{"crc32c":"${crc}","data":${text}${jsonTail}`);
  },
  open(bytes) {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const head = jsonHead.exec(text);
    if (head === null || !text.endsWith(jsonTail)) throw new SyntaxError('not a whole document');
    const data = text.slice(head[0].length, -jsonTail.length);
    verify(Number.parseInt(head[1]!, 16), new TextEncoder().encode(data));
    return JSON.parse(data);
  },
};

const cborHead = 0x1a;
const cborHeadLength = 5;

const cbor: Format = {
  seal(data) {
    const body = new Encoder({ useRecords: false, tagUint8Array: false }).encode(data);
    const bytes = new Uint8Array(cborHeadLength + body.length);
    bytes[0] = cborHead;
    new DataView(bytes.buffer).setUint32(1, crc32c(body));
    bytes.set(body, cborHeadLength);
    return bytes;
  },
  open(bytes) {
    if (bytes[0] !== cborHead || bytes.length <= cborHeadLength) throw new SyntaxError('not a whole document');
    const body = bytes.subarray(cborHeadLength);
    verify(new DataView(bytes.buffer, bytes.byteOffset).getUint32(1), body);
    return new Decoder({ useRecords: false, mapsAsObjects: true }).decode(body);
  },
};

function verify(crc: number, bytes: Uint8Array): void {
  if (crc32c(bytes) !== crc) throw new SyntaxError('the checksum is wrong');
}

/** Where a document was found: in its file, in the previous generation, or nowhere. */
export type Generation = 'newest' | 'previous' | 'none';

/** Wraps a document, because lowdb neither reads nor writes falsy documents. */
export interface WrappedDocument<T> {
  readonly value: T;
}

/** Result of reading one generation: a document, a function that renames a corrupt file, or empty (no file). */
interface ReadGeneration<T> {
  readonly document?: WrappedDocument<T>;
  readonly putAside?: () => void;
}

export class DurableFile<T> implements Adapter<WrappedDocument<T>> {
  readonly #path: string;
  readonly #options: DurableOptions<T>;
  readonly #format: Format;
  readonly #files: FileSystem;
  #corrupt = 0;
  #found: Generation = 'none';
  #newest: Uint8Array | undefined;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(path: string, options: DurableOptions<T> = {}) {
    this.#path = path;
    this.#options = options;
    this.#format = options.format === 'cbor' ? cbor : json;
    this.#files = options.files ?? nodeFileSystem;
  }

  /** Number of files that {@link read} found corrupt. */
  get corrupt(): number {
    return this.#corrupt;
  }

  /** Generation that {@link read} returned. */
  get found(): Generation {
    return this.#found;
  }

  /**
   * Returns the document, otherwise its previous generation, otherwise null. Renames a corrupt file to
   * `<name>.corrupt-<n>`; corrupt data never causes a rejection. Rejects with `store.unreadable`, without renaming any
   * file, if the disk fails to return a file that is needed.
   */
  async read(): Promise<WrappedDocument<T> | null> {
    const newest = this.#readGeneration(this.#path);
    const previous = newest.document === undefined ? this.#readGeneration(this.#previous) : {};
    // A process that ended between the two renames of a write left the newest generation in the temporary file.
    const next = previous.document === undefined ? {} : this.#readGeneration(this.#temporary);
    for (const { putAside } of [newest, previous, next]) putAside?.();
    const completed = next.document !== undefined && this.#complete() ? next.document : undefined;
    const document = newest.document ?? completed ?? previous.document;
    if (document !== undefined) this.#found = document === previous.document ? 'previous' : 'newest';
    return document ?? null;
  }

  /**
   * Resolves when the document, or a later one, is on the medium. Rejects with `store.failed` if the disk fails to
   * write; the next read then returns an earlier generation. Rejects with `input.malformed` for a value that cannot be
   * encoded, e.g. undefined. The caller may change the value after the call.
   */
  async write({ value }: WrappedDocument<T>): Promise<void> {
    this.#newest = this.#format.seal(value);
    this.#next ??= this.#running
      .catch(() => undefined) // its own callers received that failure
      .then(() => {
        this.#next = undefined;
        this.#running = this.#replace(this.#newest!);
        return this.#running;
      });
    return this.#next;
  }

  get #previous(): string {
    return `${this.#path}.previous`;
  }

  get #temporary(): string {
    return `${this.#path}.next`;
  }

  async #replace(bytes: Uint8Array): Promise<void> {
    const temporary = this.#temporary;
    const directory = dirname(this.#path);
    try {
      this.#files.makeDirectory(directory);
      const file = this.#files.open(temporary, 'replace');
      try {
        file.write(bytes, 0);
        await file.sync();
      } finally {
        file.close();
      }
      if (this.#files.list(directory).includes(basename(this.#path))) this.#files.rename(this.#path, this.#previous);
      this.#files.rename(temporary, this.#path);
      await this.#files.syncDirectory(directory);
    } catch (cause) {
      const reason = reasonOf(cause);
      throw new VigieError('store.failed', `the document was not written (${reason})`, { where: this.#path, cause });
    }
  }

  /** Moves the temporary file, which the next write would overwrite, to its final name. False if the disk fails. */
  #complete(): boolean {
    try {
      this.#files.rename(this.#temporary, this.#path);
      return true;
    } catch (error) {
      this.#options.log?.warn('store.aside', { file: this.#temporary, error: String(error) });
      return false;
    }
  }

  #readGeneration(path: string): ReadGeneration<T> {
    const corrupt = (reason: unknown): ReadGeneration<T> => ({ putAside: () => this.#putAside(path, reason) });
    let bytes: Uint8Array;
    try {
      bytes = this.#files.read(path);
    } catch (error) {
      if (isReadFailure(error)) throw unreadable(path, error);
      // Rename a directory as well, because the next write must not make it the previous generation.
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? {} : corrupt(error);
    }
    try {
      const data = this.#format.open(bytes);
      const { accept } = this.#options;
      const value = accept === undefined ? (data as T) : accept(data);
      return value === undefined ? corrupt(new TypeError('it does not hold such a document')) : { document: { value } };
    } catch (error) {
      return corrupt(error);
    }
  }

  #putAside(path: string, reason: unknown): void {
    this.#corrupt++;
    this.#options.log?.error('store.corrupt', { file: path, error: String(reason) });
    try {
      const taken = new Set(this.#files.list(dirname(path)));
      let n = 1;
      while (taken.has(`${basename(path)}.corrupt-${n}`)) n++;
      this.#files.rename(path, join(dirname(path), `${basename(path)}.corrupt-${n}`));
    } catch (error) {
      this.#options.log?.warn('store.aside', { file: path, error: String(error) });
    }
  }
}
