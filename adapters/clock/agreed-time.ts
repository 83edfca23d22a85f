/**
 * The time by which records may be deleted for good. One source alone can be wrong by years: a clock that lost its
 * battery, a wrong time server, a receiver with a week-number rollover. So the time counts as agreed
 *
 * - while there has been no step since a receiver and the system's synchronised clock agreed within a minute, or
 * - if the same time has held for 24 h of running, sleep not counted.
 *
 * The hours of another run do not count: the clock may have been set between the two runs.
 */
import { DAY } from '../../protocol/calendar.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { ClockState, MachineTimes } from './discipline.ts';

/** Maximum difference between sources that agree, and maximum drift of a time that holds, both in ms. */
const TOLERANCE = 60_000;
/** Running time in ms for which a time must hold. */
const HOLD = DAY;

interface KnownTime {
  /** Returns UTC milliseconds. */
  now(): number;
  readonly state: ClockState;
  quality(): ClockQuality;
}

export class AgreedTime {
  readonly #machine: MachineTimes;
  readonly #clock: KnownTime;
  readonly #synchronised: () => boolean;
  /** Wall time in ms minus the machine's uptime (sleep included) when the time began to hold. */
  #offset = Number.NaN;
  /** Monotonic time in ms at which it began to hold. */
  #since = 0;
  #agreed = false;

  constructor(machine: MachineTimes, clock: KnownTime, synchronised: () => boolean) {
    this.#machine = machine;
    this.#clock = clock;
    this.#synchronised = synchronised;
  }

  /** Returns UTC milliseconds, or undefined while no time is agreed (see above). Each call detects steps. */
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
