/** Standard input that is a pipe or a socket, as frames of a live bus come from `candump -L can0 | vigie run`. */
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import { VigieError } from '../../../protocol/errors.ts';

const STANDARD_INPUT = 0;
/** Bytes read at a time: as much as a pipe holds. */
const SIZE = 65_536;
/** Who writes less at a time writes as things happen, as a full bus in candump text does in one turn. Bytes. */
const TRICKLE = 8_192;
/** Interval of reads of a slow input, ms: the processor wakes once for all frames of this time, not for each line. */
const TURN = 40;

/**
 * Reads into one buffer for all of its life: a stream takes memory for each read, which is free again only when the
 * young part of the heap is collected, and beside that the heap of a long log does not grow.
 */
export class PipeInput {
  /** The size of a pipe is unknown. */
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

  /** @param descriptor is the input's own from now on, and closed with it */
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

  /** Fills a part of `into`; returns how many bytes, 0 at the end. Throws `input.unreadable`. */
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

  /** A read that waits gets 0. */
  close(): Promise<void> {
    this.#socket.destroy();
    this.#end();
    return Promise.resolve();
  }

  /** The buffer has new contents. Nothing more is read before they are taken. */
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
 * Standard input, once in the life of the process; undefined for a file or a terminal.
 * @throws VigieError `input.unreadable` when it was read before: its descriptor may be another file's by now
 */
export function openStandardInput(): PipeInput | undefined {
  if (opened !== undefined) throw unreadable('it was read before');
  const found = fstatSync(STANDARD_INPUT);
  if (!found.isFIFO() && !found.isSocket()) return undefined;
  opened = new PipeInput(STANDARD_INPUT);
  return opened;
}

/** Lets the process end that reads standard input, or waits for what never came. */
export function closeStandardInput(): void {
  if (opened === undefined) process.stdin.destroy();
  else void opened.close();
}

function unreadable(reason: string, cause?: Error): VigieError {
  return new VigieError('input.unreadable', `cannot be read: ${reason}`, { where: 'standard input', cause });
}
