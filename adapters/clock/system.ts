import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import { AgreedTime } from './agreed-time.ts';
import { type ClockState, Discipline, type MachineTimes } from './discipline.ts';

/** setTimeout counts in 32 bits: a longer delay would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** A unit that lost its battery starts in 1970. No unit runs a build that is older than this time. UTC ms */
export const EARLIEST = Date.UTC(2025, 0, 1);

interface SystemClockOptions {
  /**
   * True when the system's time is right. By default a plausible time is taken to have come from the network; a unit
   * that keeps a clock of its own through a flat battery has to ask its time service.
   */
  readonly synchronised?: () => boolean;
  /** The wall time was stepped by this many milliseconds, because fixes require it or ceased. */
  readonly stepped?: (by: number) => void;
}

const machine: MachineTimes = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  uptime: () => uptime() * 1000,
};

/** The clock of an agent: it can be set by a receiver, and knows how sure its time is. */
export interface CarClock extends Clock {
  /** A receiver with a fix says that it was `time` (UTC ms) at the monotonic moment `received` (ms). */
  discipline(time: number, received: number): void;
  /** UTC ms by which records may expire; undefined while that is not sure. */
  agreed(): number | undefined;
  /** Where the wall time is known from. */
  quality(): ClockQuality;
}

/** The machine's own clock, set by the receiver where there is one (see discipline.ts). */
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

  /** UTC, whole milliseconds. */
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
   * A receiver with a fix says what time it was. Whatever it says, only what several fixes agree on moves the clock.
   * @param time UTC milliseconds
   * @param received monotonic milliseconds at which the first byte about it came
   */
  discipline(time: number, received: number): void {
    this.#discipline.fix(time, received);
  }

  /** UTC milliseconds by which records may expire; undefined unless two sources agree on it or it has held for long. */
  agreed(): number | undefined {
    return this.#agreed.now();
  }

  /** Where the wall time is known from. */
  quality(): ClockQuality {
    return this.#discipline.quality();
  }

  get state(): ClockState {
    return this.#discipline.state;
  }
}
