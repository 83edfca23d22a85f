import { AskingInterval, type Failure } from './asking-interval.ts';
import type { PlannedCommand } from './plan.ts';
import type { PollPriority, PollSettings } from './settings.ts';

/** Lateness, in intervals, at which a request becomes the most urgent. No request starves: every deadline arrives. */
const SLACK: Readonly<Record<PollPriority, number>> = { high: 0, normal: 1, low: 4 };

/** Counts of one command since the start. */
export interface CommandCounts {
  requests: number;
  answers: number;
  refusals: number;
  silences: number;
  faults: number;
}

/** One command of the plan, and its due time. */
export class Poll {
  readonly planned: PlannedCommand;
  readonly counts: CommandCounts = { requests: 0, answers: 0, refusals: 0, silences: 0, faults: 0 };
  /** Monotonic time in ms before which it must not be requested. */
  release = Number.NEGATIVE_INFINITY;
  /** True if it must be requested alone: it was missing in an answer with several parameters. */
  alone = false;
  readonly #interval: AskingInterval;

  constructor(planned: PlannedCommand, longest: number) {
    this.planned = planned;
    this.#interval = new AskingInterval(planned.interval, longest);
  }

  get backedOff(): boolean {
    return this.#interval.lengthened;
  }

  /** Monotonic time in ms by which it should have been requested. */
  get deadline(): number {
    return this.release + SLACK[this.planned.priority] * this.planned.interval;
  }

  answered(asked: number): void {
    this.counts.answers++;
    this.#interval.reset();
    this.release = asked + this.planned.interval;
  }

  failed(failure: Failure, asked: number): void {
    if (failure === 'silence') this.counts.silences++;
    else if (failure === 'fault') this.counts.faults++;
    else this.counts.refusals++;
    this.release = asked + this.#interval.failed(failure);
  }

  /** Call at a new ignition: failed commands may succeed now. */
  renew(now: number): void {
    this.#interval.reset();
    this.alone = false;
    this.release = Math.min(this.release, now);
  }
}

/** Chooses the next request: among the due polls, the one with the earliest deadline. */
export class PollSchedule {
  readonly polls: readonly Poll[];

  constructor(planned: readonly PlannedCommand[], { longestBackOff }: PollSettings) {
    this.polls = planned.map((command) => new Poll(command, longestBackOff));
  }

  /** Returns the most urgent poll at `now` (monotonic ms); undefined if no poll is due. */
  due(now: number): Poll | undefined {
    let next: Poll | undefined;
    for (const poll of this.polls) {
      if (poll.release > now) continue;
      if (next === undefined || poll.deadline < next.deadline) next = poll;
    }
    return next;
  }

  /** Returns the monotonic time in ms at which the next poll becomes due. */
  nextRelease(): number {
    return this.polls.reduce((earliest, { release }) => Math.min(earliest, release), Number.POSITIVE_INFINITY);
  }

  /** Returns other polls that are due now or within half of their interval; the most urgent first. */
  companions(first: Poll, now: number): Poll[] {
    return this.polls
      .filter((poll) => poll !== first && poll.release <= now + poll.planned.interval / 2 && !poll.backedOff)
      .sort((a, b) => a.deadline - b.deadline);
  }

  renew(now: number): void {
    for (const poll of this.polls) poll.renew(now);
  }
}
