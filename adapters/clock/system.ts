import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import { AgreedTime } from './agreed-time.ts';
import { type ClockState, Discipline, type MachineTimes } from './discipline.ts';

/** Longest delay of setTimeout in ms. It counts in 32 bits: a longer delay would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** Earliest plausible time in UTC ms. A unit that lost its battery starts in 1970; no build is older than this. */
export const EARLIEST = Date.UTC(2025, 0, 1);

interface SystemClockOptions {
  /**
   * Returns true if the system's time is right. By default, a plausible time is assumed to be from the network; a unit
   * with a clock that survives a flat battery must query its time service instead.
   */
  readonly synchronised?: () => boolean;
  /** Called after the wall time was stepped by this many milliseconds, because fixes required it or ended. */
  readonly stepped?: (by: number) => void;
}

const machine: MachineTimes = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  uptime: () => uptime() * 1000,
};

/** The clock of an agent: a receiver can set it, and it reports the quality of its time. */
export interface CarClock extends Clock {
  /** Processes a receiver's fix: the time was `time` (UTC ms) at the monotonic time `received` (ms). */
  discipline(time: number, received: number): void;
  /** Returns the UTC time in ms that decides whether records expire, or undefined while it is uncertain. */
  agreed(): number | undefined;
  /** Returns the source of the wall time. */
  quality(): ClockQuality;
}

/** The machine's own clock, set by a GNSS receiver if there is one (see discipline.ts). */
export class SystemClock implements CarClock {
  readonly #discipline: Discipline;
  readonly #agreed: AgreedTime;

  constructor({ synchronised = () => Date.now() >= EARLIEST, stepped }: SystemClockOptions = {}) {
    this.#discipline = new Discipline(machine, {
      earliest: EARLIEST,
      synchronised,
      ...defined({ stepped }),
    });
    this.#agreed = new AgreedTime(machine, this.#discipline, synchronised);
  }

  /** Returns UTC, whole milliseconds. */
  now(): number {
    return Math.round(this.#discipline.now());
  }

  monotonic(): number {
    return performance.now();
  }

  after(delay: number, due: () => void): () => void {
    let timer: NodeJS.Timeout;
    const arm = (rest: number): void => {
      timer = setTimeout(() => (rest > LONGEST ? arm(rest - LONGEST) : due()), Math.min(Math.max(0, rest), LONGEST));
    };
    arm(delay);
    return () => clearTimeout(timer);
  }

  /**
   * Processes the time from a receiver with a fix. The clock changes only if several fixes agree.
   * @param time UTC milliseconds
   * @param received monotonic milliseconds at which its first byte arrived
   */
  discipline(time: number, received: number): void {
    this.#discipline.fix(time, received);
  }

  /** Returns the UTC time in ms that decides on expiry; undefined unless two sources agree or it held for long. */
  agreed(): number | undefined {
    return this.#agreed.now();
  }

  /** Returns the source of the wall time. */
  quality(): ClockQuality {
    return this.#discipline.quality();
  }

  get state(): ClockState {
    return this.#discipline.state;
  }
}
