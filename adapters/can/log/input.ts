/** Sources of a log's bytes: a file or standard input. */
import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { VigieError } from '../../../protocol/errors.ts';
import { openStandardInput } from './standard-input.ts';

export interface ByteInput {
  /** Size of the file on disk in bytes; 0 if unknown. */
  readonly size: number;
  /** Number of bytes of the file read so far. */
  readonly position: number;
  /** Reason why the bytes end early because of damaged packing; otherwise undefined. */
  readonly broken?: string | undefined;
  /** Fills a part of `into`. Returns the number of bytes, 0 at the end. Throws `input.unreadable`. */
  read(into: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** A file with random access. */
export interface LogFile {
  readonly path: string;
  /** Size in bytes, as far as known. */
  readonly size: number;
  /** Fills `into` from a position. Returns the number of bytes, fewer only at the end. Throws `input.unreadable`. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens a file, or standard input for `-`. Throws `input.unreadable`. */
export async function openInput(path: string): Promise<ByteInput> {
  if (path === '-') return openStandardInput() ?? new StreamInput(process.stdin, 'standard input');
  try {
    const handle = await open(path, 'r');
    const stat = await handle.stat();
    return new FileInput(new DiskFile(handle, path, stat.size), stat.isFile());
  } catch (error) {
    throw unreadable(path, error);
  }
}

export class DiskFile implements LogFile {
  readonly path: string;
  readonly size: number;
  readonly #handle: FileHandle;
  readonly #where: string;

  /** @param where name of the file for users */
  constructor(handle: FileHandle, path: string, size: number, where = path) {
    this.#handle = handle;
    this.path = path;
    this.size = size;
    this.#where = where;
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    let filled = 0;
    while (filled < into.length) {
      const count = await this.readSome(into.subarray(filled), position + filled);
      if (count === 0) break;
      filled += count;
    }
    return filled;
  }

  /** As {@link read}, but may return fewer bytes before the end. @param position null: the end of the previous read */
  async readSome(into: Uint8Array, position: number | null): Promise<number> {
    try {
      return (await this.#handle.read(into, 0, into.length, position)).bytesRead;
    } catch (error) {
      throw unreadable(this.#where, error);
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Reads a file from start to end. */
export class FileInput implements ByteInput {
  readonly size: number;
  position = 0;
  readonly #file: DiskFile;
  readonly #seekable: boolean;

  /** @param seekable false for an input that only looks like a file, such as a named pipe */
  constructor(file: DiskFile, seekable: boolean) {
    this.#file = file;
    this.#seekable = seekable;
    this.size = file.size;
  }

  /** The file, if it supports random access. */
  get file(): LogFile | undefined {
    return this.#seekable ? this.#file : undefined;
  }

  async read(into: Uint8Array): Promise<number> {
    const count = await this.#file.readSome(into, null);
    this.position += count;
    return count;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

class StreamInput implements ByteInput {
  readonly size = 0;
  position = 0;
  private readonly stream: Readable;
  private readonly chunks: AsyncIterator<Uint8Array>;
  private readonly where: string;
  private rest: Uint8Array = new Uint8Array(0);

  constructor(stream: Readable, where: string) {
    this.stream = stream;
    this.where = where;
    this.chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  async read(into: Uint8Array): Promise<number> {
    while (this.rest.length === 0) {
      const next = await this.chunks.next().catch((error: unknown) => {
        throw unreadable(this.where, error);
      });
      if (next.done === true) return 0;
      this.rest = next.value;
    }
    const part = this.rest.subarray(0, into.length);
    into.set(part);
    this.rest = this.rest.subarray(part.length);
    this.position += part.length;
    return part.length;
  }

  close(): Promise<void> {
    this.stream.destroy();
    return Promise.resolve();
  }
}

function unreadable(where: string, cause: unknown): VigieError {
  const { code, message = String(cause) } = cause as NodeJS.ErrnoException;
  const reason = reasons[code ?? ''] ?? message;
  return new VigieError('input.unreadable', `cannot be read: ${reason}`, { where, cause });
}

/** Advice for system errors about a file. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file (check the path)',
  EISDIR: 'it is a folder (name the log in it)',
  EACCES: 'its rights forbid it',
};

/** An input of which some bytes were already read: it returns these bytes again first. */
export class BegunInput implements ByteInput {
  readonly #input: ByteInput;
  #begun: Uint8Array;

  constructor(input: ByteInput, begun: Uint8Array) {
    this.#input = input;
    this.#begun = begun;
  }

  get size(): number {
    return this.#input.size;
  }

  get position(): number {
    return this.#input.position;
  }

  get broken(): string | undefined {
    return this.#input.broken;
  }

  read(into: Uint8Array): Promise<number> {
    if (this.#begun.length === 0) return this.#input.read(into);
    const part = this.#begun.subarray(0, into.length);
    into.set(part);
    this.#begun = this.#begun.subarray(part.length);
    return Promise.resolve(part.length);
  }

  close(): Promise<void> {
    return this.#input.close();
  }
}

/**
 * Reads until `wanted` bytes are there, or `enough` returns true, or the input ends. Returns the number of bytes.
 */
export async function fill(
  input: ByteInput,
  buffer: Uint8Array,
  filled: number,
  wanted: number,
  enough: (end: number) => boolean | Promise<boolean> = () => false,
): Promise<number> {
  let end = filled;
  while (end < wanted && !(await enough(end))) {
    const count = await input.read(buffer.subarray(end));
    if (count === 0) break;
    end += count;
  }
  return end;
}
