import type { MessageCodec, OutgoingFrame } from '../../agent/ports.ts';

/** Consecutive valid frames that make a request. */
const FRAMES = 3;
/** Longest pause within a request, ms; frames are due every 50. */
const PAUSE = 200;
/** Time that the lock motors take, ms. */
const TRAVEL = 300;

/** LockRequest of BODY_COMMAND. */
const LOCK = 1;
const UNLOCK = 2;

/**
 * The central lock as a body computer guards it: a request counts after three frames in a row whose counters
 * advance by one and whose exclusive or over all bytes is zero; anything else starts the count anew.
 */
export class CentralLock {
  locked: boolean;
  /** Requests that were understood, those for the state the lock is in already included. */
  accepted = 0;
  /** Command frames that were ignored: wrong checksum, length or value, counter repeated or jumped. */
  rejected = 0;
  readonly #codec: MessageCodec;
  readonly #command: { readonly id: number; readonly length: number };
  readonly #obey: boolean;
  #request = 0;
  #streak = 0;
  #counter = -1;
  #heardAt = Number.NEGATIVE_INFINITY;
  /** Where the motors are heading, and ms until they are there. */
  #goal: boolean | undefined;
  #travel = 0;

  constructor(codec: MessageCodec, locked: boolean, obey: boolean) {
    const empty = codec.encode('BODY_COMMAND', {});
    this.#codec = codec;
    this.#command = { id: empty.id, length: empty.data.length };
    this.#obey = obey;
    this.locked = locked;
  }

  /** The motors are turning. */
  get turning(): boolean {
    return this.#goal !== undefined;
  }

  /** A frame from the bus, `at` ms of monotonic time. Frames that are not commands leave it as it is. */
  receive(frame: OutgoingFrame, at: number): void {
    if (frame.id !== this.#command.id) return;
    const signals = this.#valid(frame);
    if (signals === undefined) {
      this.#refuse();
      return;
    }
    const { request, counter } = signals;
    const follows = at - this.#heardAt <= PAUSE && this.#streak > 0;
    const advances = counter === (this.#counter + 1) % 16;
    this.#heardAt = at;
    this.#counter = counter;
    if (follows && !advances) this.rejected++;
    this.#streak = follows && advances && request === this.#request ? this.#streak + 1 : 1;
    this.#request = request;
    if (this.#streak === FRAMES && request !== 0) this.#carryOut(request === LOCK);
  }

  /** Lets `ms` of the car's time pass. */
  step(ms: number): void {
    if (this.#goal === undefined) return;
    this.#travel -= ms;
    if (this.#travel > 0) return;
    this.locked = this.#goal;
    this.#goal = undefined;
  }

  #valid(frame: OutgoingFrame): { request: number; counter: number } | undefined {
    if (frame.data.length !== this.#command.length) return undefined;
    // The checksum is a whole byte, so exclusive or over all bytes, itself included, must leave nothing.
    if (frame.data.reduce((sum, byte) => sum ^ byte, 0) !== 0) return undefined;
    const signals = this.#codec.decode(frame)?.signals;
    const request = signals?.['LockRequest'];
    const counter = signals?.['Counter'];
    if (request === undefined || counter === undefined || request > UNLOCK) return undefined;
    return { request, counter };
  }

  #refuse(): void {
    this.rejected++;
    this.#streak = 0;
  }

  #carryOut(lock: boolean): void {
    this.accepted++;
    if (!this.#obey) return;
    if (lock === (this.#goal ?? this.locked)) return;
    this.#goal = lock;
    this.#travel = TRAVEL;
  }
}
