/**
 * A named pipe, or a file to which another program writes: both are read-only lines. A file is read from its start and
 * then as it grows; truncation or replacement ends the line, and the next opening reads the new file.
 */
import { constants, open, type Stats } from 'node:fs';
import { type FileHandle, open as openHandle, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Clock, Line, LineEvents, OpenLine } from '../../agent/ports.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { unopened } from './failures.ts';

interface FileLineOptions {
  readonly path: string;
  readonly clock: Clock;
}

/** Interval in ms at which a file is checked for new data. */
const LOOK = 250;
const BLOCK = 65_536;

/** Identity of the open file, and the position reached in it. */
interface Mark {
  readonly device: number;
  readonly inode: number;
  position: number;
}

/** Returns a function that opens the file. Reopening the same file continues at the previous position. */
export function fileLine({ path, clock }: FileLineOptions): OpenLine {
  let mark: Mark | undefined;
  return async (events) => {
    try {
      const stats = await stat(path);
      if (stats.isFIFO()) return await NamedPipe.open(path, events);
      if (!stats.isFile()) throw new Error(unfit(stats));
      const file = await openHandle(path, 'r');
      const { dev: device, ino: inode, size } = await file.stat();
      if (mark?.device !== device || mark.inode !== inode || size < mark.position) {
        mark = { device, inode, position: 0 };
      }
      return new GrowingFile(file, path, mark, clock, events);
    } catch (error) {
      throw unopened(path, error);
    }
  };
}

function unfit(stats: Stats): string {
  if (stats.isCharacterDevice()) return 'it is a device; write serial: before its path';
  return stats.isDirectory() ? 'it is a directory' : 'it is neither a file nor a named pipe';
}

class GrowingFile implements Line {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #mark: Mark;
  readonly #clock: Clock;
  readonly #events: LineEvents;
  /** The current read. */
  #reading: Promise<void>;
  #cancel: () => void = () => undefined;
  #closing = false;

  constructor(file: FileHandle, path: string, mark: Mark, clock: Clock, events: LineEvents) {
    this.#file = file;
    this.#path = path;
    this.#mark = mark;
    this.#clock = clock;
    this.#events = events;
    this.#reading = this.#read();
  }

  write(): Promise<void> {
    return Promise.reject(onlyRead(this.#path));
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#cancel();
    await this.#reading;
    await this.#file.close();
  }

  async #read(): Promise<void> {
    let ended: string | undefined;
    try {
      for (let more = true; more && !this.#closing; ) more = await this.#block();
      if (!this.#closing) ended = await this.#replaced();
    } catch (error) {
      ended = reasonOf(error);
    }
    if (this.#closing) return;
    if (ended === undefined) {
      this.#cancel = this.#clock.after(LOOK, () => {
        this.#reading = this.#read();
      });
      return;
    }
    this.#closing = true;
    await this.#file.close().catch((error: unknown) => {
      ended += `, and could not be closed: ${reasonOf(error)}`;
    });
    this.#events.closed(ended);
  }

  /** @returns true if more data may be available now */
  async #block(): Promise<boolean> {
    const bytes = new Uint8Array(BLOCK);
    const { bytesRead } = await this.#file.read(bytes, 0, BLOCK, this.#mark.position);
    if (bytesRead === 0 || this.#closing) return false;
    this.#mark.position += bytesRead;
    this.#events.data(bytes.subarray(0, bytesRead));
    return true;
  }

  /** Returns the reason why the path no longer refers to the open file, or undefined if it does. */
  async #replaced(): Promise<string | undefined> {
    const { ino, dev, size } = await stat(this.#path);
    if (ino !== this.#mark.inode || dev !== this.#mark.device) return 'the file was replaced';
    return size < this.#mark.position ? 'the file was cut' : undefined;
  }
}

const openDescriptor = promisify(open) as (path: string, flags: number) => Promise<number>;

class NamedPipe implements Line {
  readonly #socket: Socket;
  readonly #path: string;
  #closing = false;

  /** Opens the pipe for writing too: so it does not end without a writer, and opening does not wait for one. */
  static async open(path: string, events: LineEvents): Promise<NamedPipe> {
    const descriptor = await openDescriptor(path, constants.O_RDWR | constants.O_NONBLOCK);
    return new NamedPipe(new Socket({ fd: descriptor, readable: true, writable: false }), path, events);
  }

  private constructor(socket: Socket, path: string, events: LineEvents) {
    this.#socket = socket;
    this.#path = path;
    let trouble: string | undefined;
    socket.on('error', (error) => {
      trouble ??= error.message;
    });
    socket.once('close', () => {
      if (!this.#closing) events.closed(trouble ?? 'the pipe has ended');
    });
    socket.on('data', (bytes) => {
      if (!this.#closing) events.data(bytes);
    });
  }

  write(): Promise<void> {
    return Promise.reject(onlyRead(this.#path));
  }

  close(): Promise<void> {
    this.#closing = true;
    if (this.#socket.closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.once('close', () => resolve());
      this.#socket.destroy();
    });
  }
}

function onlyRead(path: string): VigieError {
  return new VigieError('input.unreadable', 'nothing can be written there: files and pipes are only read', {
    where: path,
  });
}
