/** Copies what comes from a pipe or compressed to a file, for formats that are read at any position. */
import { randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VigieError } from '../../../protocol/errors.ts';
import { type ByteInput, DiskFile, type LogFile } from './input.ts';

const BLOCK = 1024 * 1024;
const LARGEST = 16 * 1024 ** 3;

/**
 * The rest of an input as a file in the system's temporary folder, which is gone when it is closed or the program ends.
 * @param where what people know the input by
 * @param byName it keeps its name until it is closed; else it has none, so that nothing is left of it however the
 *   program ends
 * @throws VigieError `input.unreadable` when there is no room for it
 */
export async function spool(
  input: ByteInput,
  begun: Uint8Array,
  { where, byName }: { readonly where: string; readonly byName: boolean },
): Promise<LogFile> {
  const path = join(tmpdir(), `vigie-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600).catch((error: Error) => {
    throw unwritable(where, error);
  });
  const remove = (): Promise<void> => unlink(path).catch(() => undefined);
  if (!byName) await remove();
  let size = 0;
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (size + bytes.length > LARGEST) {
      const reason = `it is larger than ${LARGEST / 1024 ** 3} GiB and is not in a plain file: unpack it to one first`;
      throw new VigieError('input.unreadable', reason, { where });
    }
    for (let from = 0; from < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, from, bytes.length - from, size).catch((error: Error) => {
        throw unwritable(where, error);
      });
      from += bytesWritten;
      size += bytesWritten;
    }
  };
  try {
    await write(begun);
    const block = new Uint8Array(BLOCK);
    for (;;) {
      const count = await input.read(block);
      if (count === 0) break;
      await write(block.subarray(0, count));
    }
  } catch (error) {
    await handle.close();
    await remove();
    throw error;
  }
  return new SpooledFile(new DiskFile(handle, path, size, where), byName ? remove : undefined);
}

class SpooledFile implements LogFile {
  readonly #file: DiskFile;
  readonly #remove: (() => Promise<void>) | undefined;

  constructor(file: DiskFile, remove: (() => Promise<void>) | undefined) {
    this.#file = file;
    this.#remove = remove;
  }

  get path(): string {
    return this.#file.path;
  }

  get size(): number {
    return this.#file.size;
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return this.#file.read(into, position);
  }

  async close(): Promise<void> {
    await this.#remove?.();
    await this.#file.close();
  }
}

function unwritable(where: string, cause: Error): VigieError {
  const reason = `it is not a plain file and cannot be copied to one in ${tmpdir()}: ${cause.message}`;
  return new VigieError('input.unreadable', `${reason} (unpack it to a file, or set TMPDIR)`, { where, cause });
}
