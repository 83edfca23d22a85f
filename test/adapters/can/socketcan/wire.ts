/** A kernel whose interface and frames a test makes up. */
import { constants } from 'node:os';
import { append, createBatch } from '../../../../adapters/can/frames.ts';
import type { BusSocket, BusSocketOptions, CanKernel } from '../../../../adapters/can/socketcan/index.ts';
import { VigieError } from '../../../../protocol/errors.ts';

const { EAGAIN } = constants.errno;

export class FakeSocket implements BusSocket {
  flexible = true;
  dropped = 0;
  interfaceDropped = 0;
  malformed = 0;
  readonly slots = 4;
  readonly batch = createBatch(4, 4 * 64);
  readonly written: Uint8Array[] = [];
  /** What the next writes give; 16 when there is none left. */
  results: number[] = [];
  isClosed = false;
  reason: string | undefined;
  receives = 0;
  readonly #queue: number[] = [];
  #ready: (() => void) | undefined;

  /** As {@link arrive}, but nobody has been told of it yet. */
  hold(...what: readonly number[]): void {
    this.#queue.push(...what);
  }

  /** Identifiers of frames that came, and negative numbers for errors in between. */
  arrive(...what: readonly number[]): void {
    this.hold(...what);
    const ready = this.#ready;
    this.#ready = undefined;
    ready?.();
  }

  get isWaiting(): boolean {
    return this.#ready !== undefined;
  }

  receive(now: number): number {
    this.receives++;
    this.batch.count = 0;
    if ((this.#queue[0] ?? 0) < 0) return this.#queue.shift() as number;
    while (this.batch.count < this.slots) {
      const [id] = this.#queue;
      if (id === undefined || id < 0) break;
      append(this.batch, now, id, 0, 0, Uint8Array.of(1), 1);
      this.#queue.shift();
    }
    return this.batch.count === 0 ? -EAGAIN : this.batch.count;
  }

  write(bytes: Uint8Array, length: number): number {
    const result = this.results.shift() ?? length;
    if (result >= 0) this.written.push(bytes.slice(0, length));
    return result;
  }

  wait(ready: () => void): void {
    this.#ready = ready;
  }

  fault(): string | undefined {
    return this.reason;
  }

  close(): void {
    this.isClosed = true;
    this.#ready = undefined;
  }
}

export class FakeKernel implements CanKernel {
  /** Why the interface cannot be opened now. */
  fault: string | undefined;
  readonly sockets: FakeSocket[] = [];
  readonly asked: BusSocketOptions[] = [];
  changed: (() => void) | undefined;

  open(options: BusSocketOptions): BusSocket {
    this.asked.push(options);
    if (this.fault !== undefined) throw new VigieError('input.unreadable', this.fault, { where: options.interface });
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return socket;
  }

  watchLinks(changed: () => void): () => void {
    this.changed = changed;
    return () => {
      this.changed = undefined;
    };
  }

  get socket(): FakeSocket {
    return this.sockets.at(-1) as FakeSocket;
  }
}
