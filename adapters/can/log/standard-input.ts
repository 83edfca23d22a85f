/** Standard input from a pipe or a socket, with frames of a live bus, as in `candump -L can0 | vigie run`. */
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import { VigieError } from '../../../protocol/errors.ts';

const STANDARD_INPUT = 0;
/** Number of bytes per read: the capacity of a pipe. */
const SIZE = 65_536;
/** Largest read of a live input in bytes. A full bus in candump text does not exceed it in one interval. */
const TRICKLE = 8_192;
/** Read interval in ms of a slow input: one wakeup of the processor per interval instead of one per line. */
const TURN = 40;

/**
 * Reads into a single buffer. A stream would allocate memory for each read, which is released only when the young
 * generation of the heap is collected; otherwise the heap does not grow while a long log is read.
 */
export class PipeInput {
  /** 0, because the size of a pipe is unknown. */
  readonly size = 0;
  position = 0;
  readonly #buffer = new Uint8Array(SIZE);
  readonly #socket: Socket;
  #from = 0;
  #filled = 0;
  #ended = false;
  #error: Error | undefined;
  #wake: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param descriptor owned by this input from now on, and closed with it */
  constructor(descriptor: number) {
    this.#socket = new Socket({
      fd: descriptor,
      readable: true,
      writable: false,
      onread: { buffer: this.#buffer, callback: (count) => this.#came(count) },
    });
    this.#socket.on('error', (error) => {
      this.#error = error;
    });
    for (const event of ['end', 'close'] as const) this.#socket.on(event, () => this.#end());
  }

  /** Fills a part of `into`. Returns the number of bytes, 0 at the end. Throws `input.unreadable`. */
  async read(into: Uint8Array): Promise<number> {
    while (this.#from === this.#filled) {
      if (this.#error !== undefined) throw unreadable(this.#error.message, this.#error);
      if (this.#ended) return 0;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const part = this.#buffer.subarray(this.#from, Math.min(this.#filled, this.#from + into.length));
    into.set(part);
    this.#from += part.length;
    this.position += part.length;
    if (this.#from === this.#filled) this.#next();
    return part.length;
  }

  /** Closes the input. A pending read returns 0. */
  close(): Promise<void> {
    this.#socket.destroy();
    this.#end();
    return Promise.resolve();
  }

  /** Handles new bytes in the buffer. No more is read until they are consumed. */
  #came(count: number): boolean {
    this.#from = 0;
    this.#filled = count;
    this.#wake();
    return false;
  }

  #next(): void {
    if (this.#filled >= TRICKLE) this.#socket.resume();
    else this.#timer = setTimeout(() => this.#socket.resume(), TURN);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#ended = true;
    this.#wake();
  }
}

let opened: PipeInput | undefined;

/**
 * Returns standard input, once per process; undefined for a file or a terminal.
 * @throws VigieError `input.unreadable` if it was read before: its descriptor may now belong to another file
 */
export function openStandardInput(): PipeInput | undefined {
  if (opened !== undefined) throw unreadable('it was read before');
  const found = fstatSync(STANDARD_INPUT);
  if (!found.isFIFO() && !found.isSocket()) return undefined;
  opened = new PipeInput(STANDARD_INPUT);
  return opened;
}

/** Closes standard input so that the process can end even if it still waits for input. */
export function closeStandardInput(): void {
  if (opened === undefined) process.stdin.destroy();
  else void opened.close();
}

function unreadable(reason: string, cause?: Error): VigieError {
  return new VigieError('input.unreadable', `cannot be read: ${reason}`, { where: 'standard input', cause });
}
