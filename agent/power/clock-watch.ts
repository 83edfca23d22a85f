import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { Clock, Log } from '../ports.ts';

/** Smallest change in ms of the difference between wall and monotonic time that counts as a step of the wall clock. */
const STEP = 1_000;

interface ClockWatchParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly quality: () => ClockQuality;
  /** Called with true if present timestamps are correct. */
  readonly trusted: (known: boolean) => void;
  /** Called when the time becomes known: all timestamps since the start are `by` ms too early. */
  readonly found: (by: number) => void;
  /** Called when the wall clock stepped forward by `by` ms (back if negative) for another reason. */
  readonly stepped: (by: number) => void;
}

/** Detects steps of the wall clock, and whether the time became known through a step. */
export class ClockWatch {
  readonly #parts: ClockWatchParts;
  /** Wall minus monotonic time in ms at the last check. */
  #offset = 0;
  #quality: ClockQuality = 'none';

  constructor(parts: ClockWatchParts) {
    this.#parts = parts;
  }

  start(): void {
    const { clock, quality, trusted } = this.#parts;
    this.#offset = clock.now() - clock.monotonic();
    this.#quality = quality();
    trusted(this.#quality !== 'none');
  }

  /** True if the time is known and earlier times have been corrected. */
  get known(): boolean {
    return this.#quality !== 'none';
  }

  /** Checks the clock. Call before any timestamp is used. */
  look(): void {
    const { clock, log, quality, trusted, found, stepped } = this.#parts;
    const offset = clock.now() - clock.monotonic();
    const by = Math.round(offset - this.#offset);
    const before = this.#quality;
    this.#offset = offset;
    this.#quality = quality();
    if (before !== this.#quality) trusted(this.#quality !== 'none');
    // A smaller step is an adjustment of the clock, not the discovery of the time.
    if (Math.abs(by) < STEP) return;
    log.warn('clock.stepped', { by, clock: this.#quality });
    if (before === 'none' && this.#quality !== 'none') found(by);
    else stepped(by);
  }
}
