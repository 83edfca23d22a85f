import type { Clock, Log } from '../ports.ts';
import type { Occurrence, Schedule } from '../power/schedule.ts';
import type { Programs, ScheduledCommand } from './programs.ts';
import type { Tracking } from './tracking.ts';

/** Longest interval in ms between checks of the schedule: the clock may have stepped. */
const LOOK = 10_000;
/** Longest interval in ms between checks while the unit sleeps: due commands have their own alarm. */
const SLEEPING_LOOK = 600_000;

/** Wakes a sleeping process; `due` may be called late or twice. Returns a function that cancels the alarm. */
export type Waker = (at: number, due: () => void) => () => void;

export interface ScheduledCommandsParts {
  readonly schedule: Schedule;
  readonly programs: Programs;
  readonly tracking: Tracking;
  readonly clock: Clock;
  readonly log: Log;
  readonly waker?: Waker | undefined;
  /** While the time is unknown, nothing is due: missed occurrences are found afterwards. */
  readonly timeKnown: () => boolean;
  /** Carries out a due command. `id` belongs to the occurrence and is always the same; `due` is UTC ms. */
  readonly carryOut: (command: ScheduledCommand, id: string, due: number) => void;
  /** Returns true if the unit sleeps. If omitted, it never sleeps. */
  readonly asleep?: () => boolean;
}

/** Checks the schedule when an entry is due, and periodically. */
export class ScheduledCommands {
  readonly #parts: ScheduledCommandsParts;
  #started = false;
  #cancel: () => void = () => undefined;
  #cancelWaker: () => void = () => undefined;

  constructor(parts: ScheduledCommandsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#started = true;
    this.#look();
  }

  stop(): void {
    this.#started = false;
    this.#cancel();
    this.#cancelWaker();
  }

  /** Call after a change of the schedule: sets the timer to its first entry. */
  arm(): void {
    if (!this.#started) return;
    const { clock, schedule, waker, asleep } = this.#parts;
    this.#cancel();
    this.#cancelWaker();
    const { next } = schedule;
    const now = clock.now();
    // Due entries that cannot run until the time is known are checked with the rest.
    const look = asleep?.() === true ? SLEEPING_LOOK : LOOK;
    const wait = next === undefined || next <= now ? look : Math.min(look, next - now);
    this.#cancel = clock.after(wait, this.#look);
    if (next !== undefined && next > now && waker !== undefined) this.#cancelWaker = waker(next, this.#look);
  }

  readonly #look = (): void => {
    if (!this.#started) return;
    const { clock, schedule, programs, tracking, timeKnown } = this.#parts;
    const now = clock.now();
    tracking.look();
    programs.look(now);
    if (timeKnown()) for (const occurrence of schedule.take(now)) this.#due(occurrence, now);
    this.arm();
  };

  #due(occurrence: Occurrence, now: number): void {
    const { programs, log, carryOut } = this.#parts;
    const { key, due, skipped } = occurrence;
    const command = programs.scheduled(occurrence, now);
    if (command === undefined) return;
    if (skipped > 0) log.warn('program.missed', { key, times: skipped });
    carryOut(command, `${key}@${due}`, due);
  }
}
