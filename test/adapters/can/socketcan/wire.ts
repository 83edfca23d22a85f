/** A fake kernel with scripted interfaces and frames. */
import { constants } from 'node:os';
import { append, createBatch } from '../../../../adapters/can/frames.ts';
import { ErrorCounts } from '../../../../adapters/can/socketcan/error-frames.ts';
import type {
  BusSocket,
  BusSocketOptions,
  CanKernel,
  IdentifierFilter,
} from '../../../../adapters/can/socketcan/index.ts';
import { ERROR, SENT } from '../../../../agent/ports.ts';
import { VigieError } from '../../../../protocol/errors.ts';

const { EAGAIN } = constants.errno;

export class FakeSocket implements BusSocket {
  flexible = true;
  dropped = 0;
  interfaceDropped = 0;
  malformed = 0;
  readonly slots = 4;
  readonly batch = createBatch(4, 4 * 64);
  readonly echoes: number[] = [];
  oneShot = false;
  /** If true, a node on the bus acknowledges, so that frames are transmitted at once. */
  isHeard = true;
  /** Identifiers of frames that were written and not yet transmitted, oldest first. */
  readonly held: number[] = [];
  /** Filter lists set since the socket was opened. */
  readonly filters: (readonly IdentifierFilter[])[] = [];
  filterResult = 0;
  readonly written: Uint8Array[] = [];
  /** Results of the next writes; afterwards each write returns its length. */
  results: number[] = [];
  isClosed = false;
  reason: string | undefined;
  receives = 0;
  readonly #queue: (number | { readonly echo: number })[] = [];
  readonly #own: boolean;
  readonly #errors: ErrorCounts;
  #ready: (() => void) | undefined;

  constructor({ own, errors }: Pick<BusSocketOptions, 'own' | 'errors'> = { own: false, errors: new ErrorCounts() }) {
    this.#own = own;
    this.#errors = errors;
  }

  /** Queues frames like {@link arrive}, without a notification. */
  hold(...what: readonly number[]): void {
    this.#queue.push(...what);
  }

  /** Queues frames by identifier, and errors as negative numbers, and notifies the reader. */
  arrive(...what: readonly number[]): void {
    this.hold(...what);
    this.#tell();
  }

  /** Transmits the oldest held frame. With `told` false, the reader is not notified. */
  acknowledge(told = true): void {
    const echo = this.held.shift();
    if (echo === undefined) return;
    this.#queue.push({ echo });
    if (told) this.#tell();
  }

  #tell(): void {
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
    this.echoes.length = 0;
    const [first] = this.#queue;
    if (typeof first === 'number' && first < 0) return this.#queue.shift() as number;
    let count = 0;
    while (count < this.slots) {
      const [next] = this.#queue;
      if (next === undefined || (typeof next === 'number' && next < 0)) break;
      this.#queue.shift();
      count++;
      this.#deliver(next, now);
    }
    return count === 0 ? -EAGAIN : count;
  }

  #deliver(next: number | { readonly echo: number }, now: number): void {
    if (typeof next === 'number') {
      if ((next & ERROR) !== 0) this.#errors.count(next, 0);
      append(this.batch, now, next, 0, 0, Uint8Array.of(1), 1);
      return;
    }
    this.echoes.push(next.echo);
    if (this.#own) append(this.batch, now, next.echo, 0, SENT, Uint8Array.of(1), 1);
  }

  filter(filters: readonly IdentifierFilter[]): number {
    if (this.filterResult >= 0) this.filters.push(filters);
    return this.filterResult;
  }

  write(bytes: Uint8Array, length: number): number {
    const result = this.results.shift() ?? length;
    if (result < 0) return result;
    this.written.push(bytes.slice(0, length));
    this.held.push(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true));
    // The echo comes only after the write has returned.
    if (this.isHeard) queueMicrotask(() => this.acknowledge());
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
  /** Reason why the interface cannot be opened. */
  fault: string | undefined;
  readonly sockets: FakeSocket[] = [];
  readonly asked: BusSocketOptions[] = [];
  changed: (() => void) | undefined;
  /** Value of `isHeard` for new sockets. */
  isHeard = true;

  open(options: BusSocketOptions): BusSocket {
    this.asked.push(options);
    if (this.fault !== undefined) throw new VigieError('input.unreadable', this.fault, { where: options.interface });
    const socket = new FakeSocket(options);
    socket.isHeard = this.isHeard;
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
