/** Message numbers of one class of a car: which arrived, which the car gave up, and which are missing. */
import { type Run, Runs } from '../../protocol/runs.ts';
import type { Gap } from '../../protocol/schema/gap.ts';
import type { HelloNumbers } from '../../protocol/schema/hello.ts';
import type { Envelope } from '../../protocol/schema/message.ts';
import { isCounted, isUnrecorded, lifeOf } from './lives.ts';

/**
 * Numbers of one start of the agent: [boot, first assigned number, arrived, given up, end of the sent numbers]. The
 * start has reported that it sent all numbers below that end.
 */
export type KeptStart = readonly [
  boot: number,
  first: number | null,
  arrived: readonly Run[],
  givenUp: readonly Run[],
  below?: number,
];

/** Persisted form of the numbers. */
interface KeptNumbers {
  /** Numbers from starts before those in `starts`. */
  readonly arrived: readonly Run[];
  /** Numbers that `gap` messages of these starts list, even if they arrived nevertheless. */
  readonly givenUp: readonly Run[];
  /** The newest starts, in the order of the car. */
  readonly starts: readonly KeptStart[];
  /** Whether lower numbers arrived is not known, because there were too many runs. Omitted if all are known. */
  readonly unsureBelow?: number;
}

/** Data of a car that exceeds the bounds of one class. */
export interface NumbersExcess {
  /** Count of runs that were combined or discarded. */
  readonly runs: number;
  /** Count of reports about numbers that are too far above the arrived ones. They were ignored. */
  readonly jumps: number;
}

/**
 * Ascending runs. Each number from 0 to the highest known one is in exactly one of the three lists, except numbers
 * that are lower by {@link EXPECTED_NUMBERS} or more: these are never missing.
 */
export interface NumbersReport {
  readonly arrived: readonly Run[];
  readonly givenUp: readonly Run[];
  readonly missing: readonly Run[];
  /** Lower numbers may have arrived even if they are listed as given up or missing. Omitted if 0. */
  readonly unsureBelow?: number;
}

/** Fields of a message needed for counting. `boot` is the number of the start at the hub ({@link ./lives.ts}). */
type Numbered = Pick<Envelope, 'seq' | 'boot' | 'offset'>;

interface Start {
  readonly boot: number;
  /** First number of the start. Undefined until a message of this class contains it. */
  first: number | undefined;
  readonly arrived: Runs;
  readonly givenUp: Runs;
  /** The start reports that all lower numbers were sent or given up. */
  below: number;
}

/** Number of latest starts whose numbers are kept separately. Messages of older starts arrive only on request. */
const STARTS = 4;
/** Largest number of runs of a class. A commit reads and writes all of them: 4,096 cost it 4 to 7 ms. */
export const MAX_RUNS = 4_096;
/** Runs are discarded if combining them leaves a larger share of the bound: else each message would combine again. */
const FULL_SHARE = 3 / 4;
/** Numbers per class that the hub expects from a car: half a year of a message a second, more than a car can keep. */
export const EXPECTED_NUMBERS: number = 2 ** 24;

/**
 * A car numbers the messages of each class from 0 without gaps, so a number that neither arrived nor was given up is
 * missing. If the disk refuses to write, the next start assigns numbers again that the previous start has already sent
 * from memory. Therefore reports of earlier starts do not apply to the first number of a later start and those above
 * it. A start without records has its own numbers, which are not counted.
 *
 * If there are more than {@link MAX_RUNS}, the lowest ones no longer show which numbers arrived and which were given up.
 * If that leaves too many, because messages between them are missing, the lowest runs are discarded and their numbers
 * count as missing: the car sends them again on request, and they become one run. The hub then finds repetitions in the
 * stored messages: no message is lost, and only one that retention had removed can be stored again.
 */
export class ClassNumbers {
  readonly #arrived: Runs;
  readonly #givenUp: Runs;
  readonly #starts: Start[];
  readonly #maxRuns: number;
  #unsureBelow: number;
  #excess: NumbersExcess = { runs: 0, jumps: 0 };

  constructor(
    { arrived, givenUp, starts, unsureBelow = 0 }: KeptNumbers = { arrived: [], givenUp: [], starts: [] },
    maxRuns: number = MAX_RUNS,
  ) {
    this.#maxRuns = maxRuns;
    this.#arrived = new Runs(arrived);
    this.#givenUp = new Runs(givenUp);
    this.#unsureBelow = unsureBelow;
    this.#starts = starts.map(([boot, first, come, lost, below = 0]) => ({
      boot,
      first: first ?? undefined,
      below,
      arrived: new Runs(come),
      givenUp: new Runs(lost),
    }));
  }

  get kept(): KeptNumbers {
    return {
      arrived: this.#arrived.all,
      givenUp: this.#givenUp.all,
      starts: this.#starts.map(({ boot, first = null, arrived, givenUp, below }) =>
        below > 0 ? [boot, first, arrived.all, givenUp.all, below] : [boot, first, arrived.all, givenUp.all],
      ),
      ...(this.#unsureBelow > 0 && { unsureBelow: this.#unsureBelow }),
    };
  }

  /** Data that exceeded the bounds since this object was made. */
  get excess(): NumbersExcess {
    return this.#excess;
  }

  /** True if no number of the class is known. */
  get isEmpty(): boolean {
    return this.#starts.length === 0 && this.#arrived.size === 0 && this.#givenUp.size === 0;
  }

  get report(): NumbersReport {
    const arrived = this.#valid('arrived');
    const told = this.#valid('givenUp');
    const givenUp = new Runs(told.all);
    for (const [first, last] of arrived.all) givenUp.remove(first, last);
    const missing = new Runs();
    const end = Math.max(endOf(arrived), endOf(told), this.#sentBelow);
    if (end > 0) missing.add(expectedFrom(end), end - 1);
    for (const [first, last] of [...arrived.all, ...told.all]) missing.remove(first, last);
    const unsureBelow = this.#unsureBelow;
    return {
      arrived: arrived.all,
      givenUp: givenUp.all,
      missing: missing.all,
      ...(unsureBelow > 0 && { unsureBelow }),
    };
  }

  /** Count of missing numbers. */
  get missing(): number {
    const known = this.#valid('arrived');
    for (const [first, last] of this.#valid('givenUp').all) known.add(first, last);
    const end = Math.max(endOf(known), this.#sentBelow);
    const from = expectedFrom(end);
    known.remove(0, from - 1);
    return end - from - known.size;
  }

  /** Returns true if {@link arriveAgain} may change the numbers. */
  mayChange({ seq, boot }: Pick<Numbered, 'seq' | 'boot'>): boolean {
    return !isCounted(boot) || seq < this.#unsureBelow;
  }

  /**
   * Returns true if the numbers show that this message arrived before. Only the latest starts have separate numbers: an
   * older start is assumed to have sent everything that all older starts together have sent.
   */
  has({ seq, boot }: Pick<Numbered, 'seq' | 'boot'>): boolean {
    if (isUnrecorded(boot) || this.#isOfEarlierLife(boot)) return false;
    const start = this.#starts.find((one) => one.boot === boot);
    if (start !== undefined) return start.arrived.has(seq);
    return this.#starts.length === STARTS && isCounted(boot) && this.#arrived.has(seq);
  }

  /**
   * Returns true if the numbers prove that this message did not arrive before: its start must have had separate numbers
   * since its first message. The position of an uncounted start is a guess, so that while one is listed, any start may
   * have been among the older ones before.
   */
  isCertainlyNew({ seq, boot }: Pick<Numbered, 'seq' | 'boot'>): boolean {
    if (!isCounted(boot) || seq < this.#unsureBelow || this.#arrived.has(seq)) return false;
    if (this.#starts.some((one) => !isCounted(one.boot))) return false;
    if (this.#starts.length === 0) return this.#arrived.size === 0;
    return this.#starts.find((one) => one.boot === boot)?.arrived.has(seq) === false;
  }

  /** Adds a message that did not arrive before. */
  arrive({ seq, boot, offset }: Numbered): void {
    if (!this.#counts(boot)) return;
    (this.#startOf(boot, offset === undefined ? undefined : seq - offset)?.arrived ?? this.#arrived).add(seq);
    this.#discardLowest();
  }

  /**
   * Adds a message that arrived before. The position of an uncounted start among the others is a guess. If the car
   * sends a message again although a later start seemed to have reused its number, then the car has this message under
   * this number.
   */
  arriveAgain(message: Numbered): void {
    const { seq, boot } = message;
    if (isCounted(boot)) {
      if (seq < this.#unsureBelow) this.arrive(message);
    } else if (this.#counts(boot) && this.#isMissing(seq)) {
      (this.#starts.at(-1)?.arrived ?? this.#arrived).add(seq);
      this.#discardLowest();
    }
  }

  /**
   * Applies a `gap` message of the start `boot`: these numbers of the class will never arrive. Changes nothing if
   * `numbers` is omitted.
   */
  giveUp(boot: number, numbers: Gap['numbers'] = []): void {
    if (numbers.length === 0 || !this.#counts(boot)) return;
    const givenUp = this.#startOf(boot, undefined)?.givenUp ?? this.#givenUp;
    const end = this.#expectedBelow;
    for (const [first, last] of numbers) {
      if (last >= end) this.#excess = { ...this.#excess, jumps: this.#excess.jumps + 1 };
      else if (first <= last) givenUp.add(first, last);
      this.#discardLowest();
    }
  }

  /**
   * Applies a `hello` of the start `boot`, which reports up to which number the start has sent: a broker may have lost
   * the newest messages of a class.
   */
  sent(boot: number, { first, below }: Pick<HelloNumbers, 'first' | 'below'>): void {
    if (!this.#counts(boot)) return;
    if (below > this.#expectedBelow) {
      this.#excess = { ...this.#excess, jumps: this.#excess.jumps + 1 };
      return;
    }
    const end = this.#end;
    const isKnown = this.#starts.some((one) => one.boot === boot && one.first !== undefined);
    // Most reports contain nothing new, and only a few starts have separate numbers.
    if (below <= end && (isKnown || first >= end)) return;
    const start = this.#startOf(boot, first);
    if (start !== undefined) start.below = Math.max(start.below, below);
  }

  /** Ends the numbers of earlier lives: the life of the start `boot` has begun. */
  begin(boot: number): void {
    if (this.#counts(boot) && this.#starts.length === 0) this.#startOf(boot, undefined);
  }

  #isOfEarlierLife(boot: number): boolean {
    const newest = this.#starts.at(-1);
    return newest !== undefined && lifeOf(boot) < lifeOf(newest.boot);
  }

  /**
   * Returns whether numbers of this start count: those of starts without records and of earlier lives do not. Each life
   * numbers its messages from 0, so that the first start of a later life ends the numbers of the previous one.
   */
  #counts(boot: number): boolean {
    if (isUnrecorded(boot) || this.#isOfEarlierLife(boot)) return false;
    const newest = this.#starts.at(-1);
    if (newest === undefined || lifeOf(boot) === lifeOf(newest.boot)) return true;
    this.#starts.splice(0);
    for (const runs of [this.#arrived, this.#givenUp]) runs.remove(0, Number.POSITIVE_INFINITY);
    this.#unsureBelow = 0;
    this.#startOf(boot, undefined);
    return true;
  }

  /** Numbers of starts, oldest first, each with the end of those that no later start reused. */
  get #all(): readonly (Pick<Start, 'arrived' | 'givenUp'> & { readonly end: number })[] {
    let end = Number.POSITIVE_INFINITY;
    const starts = this.#starts.toReversed().map((start) => {
      const own = { arrived: start.arrived, givenUp: start.givenUp, end };
      end = Math.min(end, reusedFrom(start));
      return own;
    });
    return [{ arrived: this.#arrived, givenUp: this.#givenUp, end }, ...starts.toReversed()];
  }

  /** The highest known number plus one, or 0. */
  get #end(): number {
    const ends = this.#all.flatMap(({ arrived, givenUp, end }) => [endBelow(arrived, end), endBelow(givenUp, end)]);
    return Math.max(this.#sentBelow, ...ends);
  }

  #isMissing(seq: number): boolean {
    const end = this.#end;
    if (seq < expectedFrom(end) || seq >= end) return false;
    return !this.#all.some((one) => seq < one.end && (one.arrived.has(seq) || one.givenUp.has(seq)));
  }

  /** End of the numbers that reports of the car may be about. A message that arrives may have any number. */
  get #expectedBelow(): number {
    const ends = this.#all.map(({ arrived, end }) => endBelow(arrived, end));
    return Math.max(this.#unsureBelow, ...ends) + EXPECTED_NUMBERS;
  }

  get #runs(): number {
    return this.#all.reduce((sum, { arrived, givenUp }) => sum + arrived.all.length + givenUp.all.length, 0);
  }

  /** Combines or discards the lower half of the runs if there are too many. */
  #discardLowest(): void {
    const before = this.#runs;
    if (before <= this.#maxRuns) return;
    const all = this.#all;
    const runs = all.flatMap(({ arrived, givenUp }) => [...arrived.all, ...givenUp.all]);
    const last = runs.map((run) => run[1]).sort((a, b) => a - b)[runs.length >> 1] as number;
    this.#unsureBelow = Math.max(this.#unsureBelow, last + 1);
    for (const { arrived, givenUp } of all) {
      addBelow(givenUp, arrived, last + 1);
      arrived.remove(0, last);
    }
    if (this.#runs > FULL_SHARE * this.#maxRuns) {
      // The end of a start shows which numbers of earlier starts it reused.
      for (const start of this.#starts) start.below = Math.max(start.below, endOf(start.arrived), endOf(start.givenUp));
      for (const { givenUp } of all) givenUp.remove(0, last);
    }
    this.#excess = { ...this.#excess, runs: this.#excess.runs + before - this.#runs };
  }

  /** All lower numbers were sent or given up, by reports of starts about numbers that no later start reuses. */
  get #sentBelow(): number {
    let [below, end] = [0, Number.POSITIVE_INFINITY];
    for (const start of this.#starts.toReversed()) {
      below = Math.max(below, Math.min(start.below, end));
      end = Math.min(end, reusedFrom(start));
    }
    return below;
  }

  /** Returns the numbers, except those that were sent or given up before a later start assigned them again. */
  #valid(what: 'arrived' | 'givenUp'): Runs {
    const valid = new Runs();
    let end = Number.POSITIVE_INFINITY;
    for (const start of this.#starts.toReversed()) {
      addBelow(valid, start[what], end);
      end = Math.min(end, reusedFrom(start));
    }
    addBelow(valid, what === 'arrived' ? this.#arrived : this.#givenUp, end);
    return valid;
  }

  /** Undefined for a start that is older than all starts with separate numbers. */
  #startOf(boot: number, first: number | undefined): Start | undefined {
    const known = this.#starts.find((one) => one.boot === boot);
    if (known !== undefined) {
      known.first ??= first;
      return known;
    }
    const next = this.#starts.findIndex((one) => isBefore({ boot, first }, one));
    const place = next < 0 ? this.#starts.length : next;
    if (place === 0 && this.#starts.length === STARTS) return undefined;
    const start: Start = { boot, first, arrived: new Runs(), givenUp: new Runs(), below: 0 };
    // A bench that starts its receiver knows the numbers that arrived, but not their start, which may be this one.
    if (place === 0 && first !== undefined) {
      move(this.#arrived, start.arrived, first);
      move(this.#givenUp, start.givenUp, first);
    }
    this.#starts.splice(place, 0, start);
    if (this.#starts.length > STARTS) this.#mergeOldest();
    return start;
  }

  #mergeOldest(): void {
    const oldest = this.#starts.shift() as Start;
    for (const [all, own] of [
      [this.#arrived, oldest.arrived],
      [this.#givenUp, oldest.givenUp],
    ] as const) {
      all.remove(reusedFrom(oldest), Number.POSITIVE_INFINITY);
      addBelow(all, own, Number.POSITIVE_INFINITY);
    }
  }
}

/**
 * Returns true if a start that is not listed precedes a listed one. If one of them is uncounted, their boots do not
 * show the order, but first numbers never decrease from start to start. If the first numbers are equal, the earlier
 * start sent from memory only, so none of its messages waited on the disk: the start that arrives first is the
 * earlier one.
 */
function isBefore({ boot, first = Number.POSITIVE_INFINITY }: Pick<Start, 'boot' | 'first'>, listed: Start): boolean {
  if (lifeOf(boot) !== lifeOf(listed.boot)) return boot < listed.boot;
  if (!isCounted(boot) || !isCounted(listed.boot)) return (listed.first ?? -1) > first;
  return boot < listed.boot;
}

/**
 * Returns the lowest number that the start assigned and that an earlier start may have assigned too. Infinity while the
 * start is not known to have assigned any: numbers that an earlier start sent then stay valid, because the order of
 * starts with the same first number may be wrong.
 */
function reusedFrom({ first, arrived, givenUp, below }: Start): number {
  const end = Math.max(endOf(arrived), endOf(givenUp), below);
  return first !== undefined && first < end ? first : Number.POSITIVE_INFINITY;
}

/** Returns the lowest number that may be missing, if all numbers are below `end`. */
function expectedFrom(end: number): number {
  return Math.max(0, end - EXPECTED_NUMBERS);
}

/** Returns the highest number plus one, or 0. */
function endOf({ all }: Runs): number {
  return (all.at(-1)?.[1] ?? -1) + 1;
}

/** Returns the highest number below `end` plus one, or 0. */
function endBelow({ all }: Runs, end: number): number {
  const run = all.findLast(([first]) => first < end);
  return run === undefined ? 0 : Math.min(run[1] + 1, end);
}

function addBelow(to: Runs, from: Runs, end: number): void {
  for (const [first, last] of from.all) if (first < end) to.add(first, Math.min(last, end - 1));
}

/** Moves the numbers from `first` upwards to `to`. */
function move(from: Runs, to: Runs, first: number): void {
  for (const [begin, last] of from.all) if (last >= first) to.add(Math.max(begin, first), last);
  from.remove(first, Number.POSITIVE_INFINITY);
}
