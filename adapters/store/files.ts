/**
 * The only access of the store to the disk. Operations that end in the page cache are synchronous (microseconds; their
 * effect survives the death of the process); operations that wait for the medium are asynchronous. Every method throws
 * or rejects with the system's error (`code` ENOSPC, EIO, EROFS, ENOENT, …).
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  open,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { reasonOf, VigieError } from '../../protocol/errors.ts';

/** A file that is open for writing. */
export interface OpenFile {
  readonly path: string;
  /** Returns the length in bytes. */
  size(): number;
  /** Fills `into` from `position` on. Returns the number of bytes read. */
  read(into: Uint8Array, position: number): number;
  /** Writes all of `data` at `position` to the page cache. */
  write(data: Uint8Array, position: number): void;
  /** Sets the length. If that extends the file, the new part contains zeros that use no space. */
  truncate(length: number): void;
  /** Runs fdatasync: resolves when data and length are on the medium. */
  sync(): Promise<void>;
  /** Runs fdatasync synchronously. */
  syncInPlace(): void;
  close(): void;
}

export interface FileSystem {
  /**
   * `create` makes a new file and fails if it exists; `replace` creates or empties the file; `change` opens an existing
   * file unchanged; `read` does so for reading only.
   */
  open(path: string, mode: 'create' | 'replace' | 'change' | 'read'): OpenFile;
  read(path: string): Uint8Array;
  /** Returns the names of the files in a directory, in no particular order. */
  list(directory: string): readonly string[];
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Creates the directory and its parents, durably; does nothing if it exists. */
  makeDirectory(path: string): void;
  /** Resolves when changes of the names in the directory (create, rename, remove) are on the medium. */
  syncDirectory(path: string): Promise<void>;
}

const flags = { create: 'wx+', replace: 'w+', change: 'r+', read: 'r' } as const;

/** Readable only by the owner: the files contain the positions of the car. */
const fileMode = 0o600;
const directoryMode = 0o700;

class DescriptorFile implements OpenFile {
  readonly path: string;
  readonly #descriptor: number;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  size(): number {
    return fstatSync(this.#descriptor).size;
  }

  read(into: Uint8Array, position: number): number {
    let done = 0;
    while (done < into.length) {
      const count = readSync(this.#descriptor, into, done, into.length - done, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  write(data: Uint8Array, position: number): void {
    let done = 0;
    while (done < data.length) {
      done += writeSync(this.#descriptor, data, done, data.length - done, position + done);
    }
  }

  truncate(length: number): void {
    ftruncateSync(this.#descriptor, length);
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => (error ? reject(error) : resolve()));
    });
  }

  syncInPlace(): void {
    fdatasyncSync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** The file system of the machine. */
export const nodeFileSystem: FileSystem = {
  open: (path, mode) => new DescriptorFile(path, openSync(path, flags[mode], fileMode)),

  // Converted from Buffer so that its views are plain Uint8Arrays.
  read(path) {
    const buffer = readFileSync(path);
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
  },

  list: (directory) => readdirSync(directory),
  rename: (from, to) => renameSync(from, to),
  remove: (path) => rmSync(path),

  makeDirectory(path) {
    const first = mkdirSync(path, { recursive: true, mode: directoryMode });
    if (first === undefined) return;
    for (let made = path; ; made = dirname(made)) {
      const above = openSync(dirname(made), 'r');
      try {
        fsyncSync(above);
      } finally {
        closeSync(above);
      }
      if (made === first || made === dirname(made)) return;
    }
  },

  syncDirectory: (path) =>
    new Promise((resolve, reject) => {
      open(path, 'r', (failure, descriptor) => {
        if (failure) {
          reject(failure);
          return;
        }
        fsync(descriptor, (error) => {
          closeSync(descriptor);
          if (error) reject(error);
          else resolve();
        });
      });
    }),
};

/** Returns the error for stored bytes that the disk failed to return. @param cause the system's error */
export function unreadable(where: string, cause: unknown): VigieError {
  const reason = reasonOf(cause);
  return new VigieError('store.unreadable', `the disk does not return its contents (${reason})`, { where, cause });
}

/** Returns true if the operation failed because the disk is full. */
export function isFull(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT');
}
