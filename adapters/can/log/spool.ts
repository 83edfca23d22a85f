/** Copies piped or compressed input to a file, for formats that need random access. */
import { randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VigieError } from '../../../protocol/errors.ts';
import { type ByteInput, DiskFile, type LogFile } from './input.ts';

const BLOCK = 1024 * 1024;
const LARGEST = 16 * 1024 ** 3;

/**
 * Copies the rest of an input to a temporary file, which is deleted when it is closed or the program ends.
 * @param where name of the input for users
 * @param byName true if the file needs a name until it is closed; otherwise it has no name, so that it never remains,
 *   even if the program is killed
 * @throws VigieError `input.unreadable` if the disk has no room for it
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
