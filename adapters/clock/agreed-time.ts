/**
 * The time by which records may be forgotten for good. One source alone can be wrong by years: a clock that lost its
 * battery, a time server that lies, a receiver whose count of weeks rolled over. So it is known
 *
 * - while no step has come since a receiver and the system's synchronised clock agreed within a minute, or
 * - when the same time has held for 24 h of running, sleep not counted.
 *
 * The hours of another run do not count: nothing tells whether the clock was set between the two.
 */
import { DAY } from '../../protocol/calendar.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { ClockState, MachineTimes } from './discipline.ts';

/** Sources agree, and a time holds, within this. ms */
const TOLERANCE = 60_000;
/** Milliseconds of running. */
const HOLD = DAY;

interface KnownTime {
  /** UTC milliseconds. */
  now(): number;
  readonly state: ClockState;
  quality(): ClockQuality;
}

export class AgreedTime {
  readonly #machine: MachineTimes;
  readonly #clock: KnownTime;
  readonly #synchronised: () => boolean;
  /** Wall time less the machine's uptime, which goes on in sleep, when the time began to hold. */
  #offset = Number.NaN;
  /** Monotonic milliseconds at which it began to hold. */
  #since = 0;
  #agreed = false;

  constructor(machine: MachineTimes, clock: KnownTime, synchronised: () => boolean) {
    this.#machine = machine;
    this.#clock = clock;
    this.#synchronised = synchronised;
  }

  /** UTC milliseconds. Undefined while the time is not known (see above). Each call notices steps. */
  now(): number | undefined {
    const now = this.#clock.now();
    const known = this.#clock.quality() !== 'none';
    const offset = known ? now - this.#machine.uptime() : Number.NaN;
    const monotonic = this.#machine.monotonic();
    if (!(Math.abs(offset - this.#offset) <= TOLERANCE)) {
      this.#offset = offset;
      this.#since = monotonic;
      this.#agreed = false;
    }
    if (!known) return undefined;
    const both = this.#clock.state === 'gnss' && this.#synchronised();
    if (both && Math.abs(this.#machine.wall() - now) <= TOLERANCE) this.#agreed = true;
    return this.#agreed || monotonic - this.#since >= HOLD ? now : undefined;
  }
}
