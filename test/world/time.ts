/** The clock of the world, and the clock of one run of an agent, which stops with its power. */
import type { CarClock } from '../../adapters/clock/system.ts';
import type { Clock } from '../../agent/ports.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  due: (() => void) | undefined;
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/**
 * Time in ms since the world began. It moves only from one timer to the next. Simultaneous timers fire in the order
 * set.
 */
export class WorldTime {
  now = 0;
  #order = 0;
  /** A binary heap. */
  readonly #timers: Timer[] = [];

  after(delay: number, due: () => void): () => void {
    const timer: Timer = { at: this.now + Math.max(0, delay), order: this.#order++, due };
    this.#push(timer);
    return () => {
      timer.due = undefined;
    };
  }

  wait(delay: number): Promise<void> {
    return new Promise((resolve) => this.after(delay, resolve));
  }

  /** Moves to the next timer due before `end` and fires it. Returns false and moves to `end` if there is none. */
  step(end: number): boolean {
    for (let timer = this.#timers[0]; timer !== undefined && timer.at < end; timer = this.#timers[0]) {
      this.#pop();
      if (timer.due === undefined) continue;
      this.now = timer.at;
      timer.due();
      return true;
    }
    this.now = Math.max(this.now, end);
    return false;
  }

  #push(timer: Timer): void {
    const heap = this.#timers;
    let place = heap.push(timer) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(timer, heap[above] as Timer)) break;
      heap[place] = heap[above] as Timer;
      place = above;
    }
    heap[place] = timer;
  }

  #pop(): void {
    const heap = this.#timers;
    const last = heap.pop() as Timer;
    if (heap.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1] as Timer, heap[below] as Timer)) below++;
      if (!isBefore(heap[below] as Timer, last)) break;
      heap[place] = heap[below] as Timer;
      place = below;
    }
    heap[place] = last;
  }
}

/** Deviation of a clock that a synchronization corrects, ms. */
const FAR = 60_000;

/** The clock on the circuit board of a car: it runs without power, can be set, and may not know the time. */
export class BoardClock {
  /** UTC ms minus world time, without the current drift. */
  offset: number;
  quality: ClockQuality = 'ntp';
  readonly #time: WorldTime;
  readonly #right: number;
  /** Drift in ms per ms of world time, from a given time on. */
  #rate = 0;
  #since = 0;
  #hasForgotten = false;
  /** The last step: the time shown before it, UTC ms, and its world time, ms. */
  #before = { shown: Number.NEGATIVE_INFINITY, at: Number.NEGATIVE_INFINITY };
  /** World time of the last jump, ms. */
  jumped = Number.NEGATIVE_INFINITY;

  constructor(offset: number, time: WorldTime) {
    this.offset = offset;
    this.#right = offset;
    this.#time = time;
  }

  /** UTC ms by this clock. */
  get now(): number {
    return Math.round(this.#time.now + this.offset + this.#drifted);
  }

  /** Jumps by this many ms. */
  step(by: number): void {
    this.#before = { shown: this.now, at: this.#time.now };
    this.jumped = this.#time.now;
    this.offset += by;
  }

  /** Latest time that it has shown within the last `span` ms, UTC ms. */
  latest(span: number): number {
    const { shown, at } = this.#before;
    return this.#time.now - at <= span ? Math.max(shown, this.now) : this.now;
  }

  /** From now on it drifts by this many millionths. */
  drift(ppm: number): void {
    this.offset += this.#drifted;
    this.#rate = ppm / 1e6;
    this.#since = this.#time.now;
  }

  /** Restarts at its origin and does not know the time. */
  forget(): void {
    this.drift(0);
    this.offset = -this.#time.now;
    this.jumped = this.#time.now;
    this.quality = 'none';
    this.#hasForgotten = true;
  }

  /** Does not know the time for a while, and goes on. */
  doubt(): void {
    this.quality = 'none';
  }

  /** Knows the time again, unless it has restarted at its origin meanwhile. */
  trust(): void {
    if (!this.#hasForgotten) this.quality = 'ntp';
  }

  /** Learns the time, and is set right if it had restarted at its origin or is far off. */
  set(quality: ClockQuality): void {
    // If the clock of a car is far ahead, the car refuses every command as late.
    if (this.#hasForgotten || Math.abs(this.offset + this.#drifted - this.#right) > FAR) {
      this.drift(0);
      this.offset = this.#right;
      this.jumped = this.#time.now;
    }
    this.#hasForgotten = false;
    this.quality = quality;
  }

  get #drifted(): number {
    return this.#rate * (this.#time.now - this.#since);
  }
}

/** The clock of one run of an agent: no timer fires after the run has ended. */
export class RunClock implements CarClock, Clock {
  alive = true;
  readonly #time: WorldTime;
  readonly #board: BoardClock;
  readonly #began: number;

  constructor(time: WorldTime, board: BoardClock) {
    this.#time = time;
    this.#board = board;
    this.#began = time.now;
  }

  now(): number {
    return this.#board.now;
  }

  monotonic(): number {
    return this.#time.now - this.#began;
  }

  quality(): ClockQuality {
    return this.#board.quality;
  }

  agreed(): number | undefined {
    return this.#board.quality === 'none' ? undefined : this.now();
  }

  /** Fixes do not move it. */
  discipline(): void {}

  after(delay: number, due: () => void): () => void {
    return this.#time.after(delay, () => {
      if (this.alive) due();
    });
  }
}
