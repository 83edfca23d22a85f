import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { Clock, Log } from '../ports.ts';

/** Wall and monotonic time that differ from before by more are a step of the wall clock, ms. */
const STEP = 1_000;

interface ClockWatchParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly quality: () => ClockQuality;
  /** Whether what happens now is stamped with the true time. */
  readonly trusted: (known: boolean) => void;
  /** The time became known: everything since the start was stamped with moments `by` ms too early. */
  readonly found: (by: number) => void;
  /** The wall clock was set `by` ms later, or earlier, for another reason. */
  readonly stepped: (by: number) => void;
}

/** Notices that the wall clock was stepped, and that the time became known by it. */
export class ClockWatch {
  readonly #parts: ClockWatchParts;
  /** Wall less monotonic time when it was looked at last. */
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

  /** Called before anything is stamped. */
  look(): void {
    const { clock, log, quality, trusted, found, stepped } = this.#parts;
    const offset = clock.now() - clock.monotonic();
    const by = Math.round(offset - this.#offset);
    const before = this.#quality;
    this.#offset = offset;
    this.#quality = quality();
    if (before !== this.#quality) trusted(this.#quality !== 'none');
    // Less is how a clock is kept, not how it is found.
    if (Math.abs(by) < STEP) return;
    log.warn('clock.stepped', { by, clock: this.#quality });
    if (before === 'none' && this.#quality !== 'none') found(by);
    else stepped(by);
  }
}
