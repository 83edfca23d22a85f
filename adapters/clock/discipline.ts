/**
 * The wall time of the agent: the system's until a GNSS receiver provides a better one, then monotonic time plus an
 * offset that only fixes correct.
 *
 * | state | wall time | quality | leaves it when |
 * |---|---|---|---|
 * | free | the system's | `ntp` when the system is synchronised, else `none` | fixes agree: gnss |
 * | gnss | monotonic + offset | `gnss` | no fix agreed for 60 s: holdover |
 * | holdover | monotonic + offset | `gnss` for 24 h, then `none` | a fix agrees: gnss; 24 h and the system is synchronised: free |
 *
 * A fix is *possible* if it is within the 1024 weeks after the build. Impossible fixes, e.g. of a receiver with a
 * week-number rollover or one that counts from the day of its own build, change nothing.
 *
 * A possible fix *agrees* if it is within 1 s of the wall time of gnss or holdover. Differences up to 100 ms, the delay
 * of lines and receivers, are ignored; above that, the clock is slewed by 500 ppm.
 *
 * Fixes that disagree with the clock but agree with each other (within 500 ms, each within a minute of the previous
 * one) become the new time after 5 of them over 4 s if the clock can be that wrong: its time was unknown, or may have
 * drifted by 50 ppm since the last fix. A clock with a known time is overruled only by 60 of them over 60 s, without
 * any that agrees with the clock. Then the clock is stepped, unless the difference is within 1 s and can be slewed.
 *
 * Wall time never runs back except by a step of more than 1 s: one of ours, or one of the system's while free.
 */
import { DAY } from '../../protocol/calendar.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import { Agreement } from './agreement.ts';

/** The machine's own times in ms. */
export interface MachineTimes {
  /** UTC; may be wrong and may step. */
  wall(): number;
  /** Never steps; stops while the machine sleeps. */
  monotonic(): number;
  /** Time since the start of the machine, sleep included. */
  uptime(): number;
}

export type ClockState = 'free' | 'gnss' | 'holdover';

interface DisciplineOptions {
  /** UTC time in ms before which no fix is possible, such as the day of the build. */
  readonly earliest: number;
  /** Returns true if the system's wall time is known to be right. */
  readonly synchronised: () => boolean;
  /** Called after the wall time was stepped by this many milliseconds. */
  readonly stepped?: (by: number) => void;
}

/** Period in ms after which GPS week numbers repeat: they are modulo 1024 (IS-GPS-200, 20.3.3.3.1.1). */
const ERA = 1024 * 7 * DAY;
/** Largest difference in ms that is slewed rather than stepped. */
const SMALL = 1_000;
const DEAD_BAND = 100;
/** Slew rate: 500 ppm, as adjtime(3). */
const SLEW = 500e-6;
/** Largest drift of an oscillator in a car: 50 ppm. */
const DRIFT = 50e-6;
/** Additional error in ms after a sleep: the clock that runs during sleep may count whole seconds. */
const WAKING = 2_000;
const FRESH = 60_000;
const HOLDOVER = DAY;
/** Number of fixes required, and the minimum time in ms that they span. */
const ACQUIRE = { fixes: 5, span: 4_000 };
const OVERRULE = { fixes: 60, span: 60_000 };

/** State of the clock while fixes control it. */
interface Held {
  /** Wall minus monotonic time in ms at `since`, and the value to which it is slewed. */
  offset: number;
  target: number;
  since: number;
  /** Monotonic time in ms of the last fix that agreed, minus the sleep of the machine since then. */
  agreed: number;
  /** True if the machine slept since then: wall time is no longer known to the second. */
  woken: boolean;
  /** Wall time and uptime of the system in ms, each minus monotonic time. They distinguish a sleep from a step. */
  system: number;
  uptime: number;
}

export class Discipline {
  readonly #machine: MachineTimes;
  readonly #options: DisciplineOptions;
  /** Fixes that agree with the clock. */
  readonly #friends = new Agreement();
  /** Fixes that disagree with the clock. */
  readonly #rivals = new Agreement();
  #held: Held | undefined;
  #lastFix = Number.NaN;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(machine: MachineTimes, options: DisciplineOptions) {
    this.#machine = machine;
    this.#options = options;
  }

  /** Returns UTC milliseconds. */
  now(): number {
    const held = this.#current();
    const at = held === undefined ? this.#machine.wall() : this.#kept(held);
    // While the clock is free, the system may set it back.
    if (at >= this.#latest || this.#latest - at > SMALL) this.#latest = at;
    return this.#latest;
  }

  get state(): ClockState {
    const held = this.#current();
    if (held === undefined) return 'free';
    return this.#machine.monotonic() - held.agreed <= FRESH ? 'gnss' : 'holdover';
  }

  quality(): ClockQuality {
    const held = this.#current();
    if (held === undefined) return this.#options.synchronised() ? 'ntp' : 'none';
    return this.#machine.monotonic() - held.agreed <= HOLDOVER ? 'gnss' : 'none';
  }

  /**
   * Processes the time from a receiver with a fix.
   * @param time UTC milliseconds
   * @param received monotonic milliseconds at which its first byte arrived
   */
  fix(time: number, received: number): void {
    const { earliest } = this.#options;
    // The same time received twice is not a second confirmation.
    if (!(time >= earliest && time < earliest + ERA) || time === this.#lastFix) return;
    this.#lastFix = time;
    const held = this.#current();
    const offset = time - received;
    if (held !== undefined && Math.abs(offset - offsetAt(held, received)) <= SMALL) this.#agree(held, offset, received);
    else this.#disagree(held, offset, received);
  }

  #agree(held: Held, offset: number, received: number): void {
    this.#rivals.clear();
    this.#friends.add(offset, received);
    held.agreed = received;
    held.woken = false;
    this.#steer(held, this.#friends.offset);
  }

  #disagree(held: Held | undefined, offset: number, received: number): void {
    const rivals = this.#rivals;
    rivals.add(offset, received);
    const now = this.#machine.monotonic();
    const stands = held === undefined ? this.#machine.wall() - now : offsetAt(held, now);
    const off = Math.abs(rivals.offset - stands);
    const needed = off <= this.#tolerance(held, now) ? ACQUIRE : OVERRULE;
    if (rivals.count < needed.fixes || received - rivals.since < needed.span) return;
    this.#adopt(rivals.offset, stands, now);
  }

  /** Returns the largest error in ms that the clock can have without a fault. */
  #tolerance(held: Held | undefined, now: number): number {
    if (held === undefined) return this.#options.synchronised() ? SMALL : Number.POSITIVE_INFINITY;
    return SMALL + DRIFT * (now - held.agreed) + (held.woken ? WAKING : 0);
  }

  /** Adopts `offset` as the time from now on. */
  #adopt(offset: number, stands: number, now: number): void {
    const { wall, uptime } = this.#read();
    const small = Math.abs(offset - stands) <= SMALL;
    const before = this.now();
    this.#held = {
      offset: small ? stands : offset,
      target: small ? stands : offset,
      since: now,
      agreed: now,
      woken: false,
      system: wall - now,
      uptime: uptime - now,
    };
    this.#rivals.clear();
    this.#friends.clear();
    if (small) {
      this.#steer(this.#held, offset);
      return;
    }
    this.#latest = Number.NEGATIVE_INFINITY;
    this.#options.stepped?.(this.now() - before);
  }

  #steer(held: Held, wanted: number): void {
    const now = this.#machine.monotonic();
    held.offset = offsetAt(held, now);
    held.since = now;
    held.target = Math.abs(wanted - held.offset) > DEAD_BAND ? wanted : held.offset;
  }

  #kept(held: Held): number {
    const now = this.#machine.monotonic();
    return now + offsetAt(held, now);
  }

  #read(): { wall: number; uptime: number } {
    return { wall: this.#machine.wall(), uptime: this.#machine.uptime() };
  }

  /** Returns the state of the clock, after a check for sleep of the machine and for expired holdover. */
  #current(): Held | undefined {
    const held = this.#held;
    if (held === undefined) return undefined;
    const now = this.#machine.monotonic();
    const system = this.#machine.wall() - now;
    // After a sleep the system's clock jumps forward; only then is it worth reading the uptime.
    if (Math.abs(system - held.system) > SMALL) {
      held.system = system;
      const uptime = this.#machine.uptime() - now;
      const slept = uptime - held.uptime;
      if (slept > SMALL) {
        held.uptime = uptime;
        held.offset += slept;
        held.target += slept;
        held.agreed -= slept;
        held.woken = true;
      }
    }
    if (now - held.agreed > HOLDOVER && this.#options.synchronised()) {
      const before = this.#kept(held);
      this.#held = undefined;
      this.#friends.clear();
      const by = this.#machine.wall() - before;
      if (Math.abs(by) <= SMALL) return undefined;
      this.#latest = Number.NEGATIVE_INFINITY;
      this.#options.stepped?.(by);
      return undefined;
    }
    return held;
  }
}

/** Returns wall minus monotonic time in ms at a monotonic time. */
function offsetAt({ offset, target, since }: Held, monotonic: number): number {
  const way = Math.min(Math.abs(target - offset), Math.max(0, monotonic - since) * SLEW);
  return target < offset ? offset - way : offset + way;
}
