/**
 * The wall time of the agent: that of the system until a GNSS receiver gives a better one, then monotonic time plus
 * an offset that fixes correct and nothing else does.
 *
 * | state | wall time | quality | leaves it when |
 * |---|---|---|---|
 * | free | the system's | `ntp` when the system is synchronised, else `none` | fixes agree: gnss |
 * | gnss | monotonic + offset | `gnss` | no fix agreed for 60 s: holdover |
 * | holdover | monotonic + offset | `gnss` for 24 h, then `none` | a fix agrees: gnss; 24 h and the system is synchronised: free |
 *
 * A fix is *possible* when it lies in the 1024 weeks after the build. What is not, such as a receiver whose count of
 * weeks has rolled over or that counts from the day of its own build, changes nothing.
 *
 * A possible fix *agrees* when it is within 1 s of the wall time of gnss or holdover. Below 100 ms, which is what lines
 * and receivers need to tell it, nothing is done; above, the clock is slewed by 500 ppm.
 *
 * Fixes that do not agree with the clock but with each other (within 500 ms, each within a minute of the one before)
 * become the new time after 5 of them over 4 s where the clock can be so wrong: it was not known, or has drifted by
 * 50 ppm since the last fix. A clock that was known is overruled only by 60 of them over 60 s with none that agrees
 * with the clock among them. Then the clock is stepped, unless it is within 1 s and can be slewed there.
 *
 * Wall time never runs back but by a step of more than 1 s, ours or the system's while it is free.
 */
import { DAY } from '../../protocol/calendar.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import { Agreement } from './agreement.ts';

/** The machine's own times, ms. */
export interface MachineTimes {
  /** UTC; may be wrong and may step. */
  wall(): number;
  /** Never steps; stands still while the machine sleeps. */
  monotonic(): number;
  /** Since the machine was started, sleep included. */
  uptime(): number;
}

export type ClockState = 'free' | 'gnss' | 'holdover';

interface DisciplineOptions {
  /** UTC milliseconds before which no fix can be, such as the day of the build. */
  readonly earliest: number;
  /** True when the system's wall time is known to be right. */
  readonly synchronised: () => boolean;
  /** The wall time was stepped by this many milliseconds. */
  readonly stepped?: (by: number) => void;
}

/** GPS sends the number of the week modulo 1024 (IS-GPS-200, 20.3.3.3.1.1). ms */
const ERA = 1024 * 7 * DAY;
/** Differences up to this are slewed, larger ones stepped. ms */
const SMALL = 1_000;
const DEAD_BAND = 100;
/** 500 ppm, as adjtime(3). */
const SLEW = 500e-6;
/** Largest drift of an oscillator in a car: 50 ppm. */
const DRIFT = 50e-6;
/** Additional error of a wake-up: the clock that runs in sleep may count whole seconds. ms */
const WAKING = 2_000;
const FRESH = 60_000;
const HOLDOVER = DAY;
/** Fixes, and the milliseconds they span. */
const ACQUIRE = { fixes: 5, span: 4_000 };
const OVERRULE = { fixes: 60, span: 60_000 };

/** Where the clock stands while fixes keep it. */
interface Held {
  /** Wall minus monotonic time at `since`, and where it is slewed to. */
  offset: number;
  target: number;
  since: number;
  /** Monotonic time of the last fix that agreed; earlier by what the machine slept since. */
  agreed: number;
  /** The machine slept since: wall time is no longer known to the second. */
  woken: boolean;
  /** Wall time and uptime of the system, minus monotonic time. They distinguish a sleep from a step. */
  system: number;
  uptime: number;
}

export class Discipline {
  readonly #machine: MachineTimes;
  readonly #options: DisciplineOptions;
  /** Fixes that agree with the clock. */
  readonly #friends = new Agreement();
  /** Fixes that do not. */
  readonly #rivals = new Agreement();
  #held: Held | undefined;
  #lastFix = Number.NaN;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(machine: MachineTimes, options: DisciplineOptions) {
    this.#machine = machine;
    this.#options = options;
  }

  /** UTC milliseconds. */
  now(): number {
    const held = this.#current();
    const at = held === undefined ? this.#machine.wall() : this.#kept(held);
    // While the clock is free the system may set it back.
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
   * A receiver with a fix says what time it was.
   * @param time UTC milliseconds
   * @param received monotonic milliseconds at which its first byte came
   */
  fix(time: number, received: number): void {
    const { earliest } = this.#options;
    // The same time received twice is no second confirmation.
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

  /** How far the clock can be off without anything being wrong. */
  #tolerance(held: Held | undefined, now: number): number {
    if (held === undefined) return this.#options.synchronised() ? SMALL : Number.POSITIVE_INFINITY;
    return SMALL + DRIFT * (now - held.agreed) + (held.woken ? WAKING : 0);
  }

  /** `offset` is the time from now on. */
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

  /** Source of the time, after a check for sleep of the machine and for expired holdover. */
  #current(): Held | undefined {
    const held = this.#held;
    if (held === undefined) return undefined;
    const now = this.#machine.monotonic();
    const system = this.#machine.wall() - now;
    // The system's clock is set forward after a sleep, and only then is the uptime worth asking for.
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

/** Wall minus monotonic time at a monotonic time. */
function offsetAt({ offset, target, since }: Held, monotonic: number): number {
  const way = Math.min(Math.abs(target - offset), Math.max(0, monotonic - since) * SLEW);
  return target < offset ? offset - way : offset + way;
}
