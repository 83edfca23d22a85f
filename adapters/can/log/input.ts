/** Where a log's bytes come from: a file, standard input, either of them compressed with gzip. */
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip } from 'node:zlib';
import { VigieError } from '../../../protocol/errors.ts';
import { openStandardInput } from './standard-input.ts';

const block = 65_536;

export interface ByteInput {
  /** Bytes of the file as it lies on the disk; 0 when that is not known. */
  readonly size: number;
  /** How many of them were read. */
  readonly position: number;
  /** Fills a part of `into`; returns how many bytes, 0 at the end. Throws `input.unreadable`. */
  read(into: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** Opens a file, or standard input for `-`. Throws `input.unreadable`. */
export async function openInput(path: string): Promise<ByteInput> {
  if (path === '-') return openStandardInput() ?? new StreamInput(process.stdin, 'standard input');
  try {
    const file = await open(path, 'r');
    return new FileInput(file, path, (await file.stat()).size);
  } catch (error) {
    throw unreadable(path, error);
  }
}

class FileInput implements ByteInput {
  readonly size: number;
  position = 0;
  private readonly file: FileHandle;
  private readonly where: string;

  constructor(file: FileHandle, where: string, size: number) {
    this.file = file;
    this.where = where;
    this.size = size;
  }

  async read(into: Uint8Array): Promise<number> {
    try {
      const { bytesRead } = await this.file.read(into, 0, into.length);
      this.position += bytesRead;
      return bytesRead;
    } catch (error) {
      throw unreadable(this.where, error);
    }
  }

  close(): Promise<void> {
    return this.file.close();
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

/** Unpacks gzip (RFC 1952), several members included; a file that was cut gives what there is of it. */
export class GzipInput implements ByteInput {
  private readonly packed: ByteInput;
  private readonly plain: StreamInput;
  /** Set when unpacking ended early. */
  broken: string | undefined;

  /** @param begun bytes already read from `packed`. */
  constructor(packed: ByteInput, begun: Uint8Array) {
    this.packed = packed;
    const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
    // A failure of either stream ends the iteration over `gunzip`, where it is dealt with.
    pipeline(Readable.from(blocks(packed, begun), { objectMode: false }), gunzip).catch(() => undefined);
    this.plain = new StreamInput(gunzip, 'gzip');
  }

  get size(): number {
    return this.packed.size;
  }

  get position(): number {
    return this.packed.position;
  }

  async read(into: Uint8Array): Promise<number> {
    if (this.broken !== undefined) return 0;
    try {
      return await this.plain.read(into);
    } catch (error) {
      const reason = error instanceof VigieError ? error.cause : error;
      if (reason instanceof VigieError) throw reason;
      this.broken = reason instanceof Error ? reason.message : String(reason);
      return 0;
    }
  }

  async close(): Promise<void> {
    await this.plain.close();
    await this.packed.close();
  }
}

async function* blocks(input: ByteInput, begun: Uint8Array): AsyncGenerator<Uint8Array> {
  yield begun;
  for (;;) {
    const bytes = new Uint8Array(block);
    const count = await input.read(bytes);
    if (count === 0) return;
    yield bytes.subarray(0, count);
  }
}

function unreadable(where: string, cause: unknown): VigieError {
  const { code, message = String(cause) } = cause as NodeJS.ErrnoException;
  const reason = reasons[code ?? ''] ?? message;
  return new VigieError('input.unreadable', `cannot be read: ${reason}`, { where, cause });
}

/** What people can do about what the system says of a file. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file (check the path)',
  EISDIR: 'it is a folder (name the log in it)',
  EACCES: 'its rights forbid it',
};
