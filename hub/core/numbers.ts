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
}

/** Ascending runs. Each number from 0 to the highest known one is in exactly one of the three lists. */
export interface NumbersReport {
  readonly arrived: readonly Run[];
  readonly givenUp: readonly Run[];
  readonly missing: readonly Run[];
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

/**
 * A car numbers the messages of each class from 0 without gaps, so a number that neither arrived nor was given up is
 * missing. If the disk refuses to write, the next start assigns numbers again that the previous start has already sent
 * from memory. Therefore reports of earlier starts do not apply to the first number of a later start and those above
 * it. A start without records has its own numbers, which are not counted.
 */
export class ClassNumbers {
  readonly #arrived: Runs;
  readonly #givenUp: Runs;
  readonly #starts: Start[];

  constructor({ arrived, givenUp, starts }: KeptNumbers = { arrived: [], givenUp: [], starts: [] }) {
    this.#arrived = runsOf(arrived);
    this.#givenUp = runsOf(givenUp);
    this.#starts = starts.map(([boot, first, come, lost, below = 0]) => ({
      boot,
      first: first ?? undefined,
      below,
      arrived: runsOf(come),
      givenUp: runsOf(lost),
    }));
  }

  get kept(): KeptNumbers {
    return {
      arrived: this.#arrived.all,
      givenUp: this.#givenUp.all,
      starts: this.#starts.map(({ boot, first = null, arrived, givenUp, below }) =>
        below > 0 ? [boot, first, arrived.all, givenUp.all, below] : [boot, first, arrived.all, givenUp.all],
      ),
    };
  }

  /** True if no number of the class is known. */
  get isEmpty(): boolean {
    return this.#starts.length === 0 && this.#arrived.size === 0 && this.#givenUp.size === 0;
  }

  get report(): NumbersReport {
    const arrived = this.#valid('arrived');
    const told = this.#valid('givenUp');
    const givenUp = runsOf(told.all);
    for (const [first, last] of arrived.all) givenUp.remove(first, last);
    const missing = new Runs();
    const end = Math.max(endOf(arrived), endOf(told), this.#sentBelow);
    if (end > 0) missing.add(0, end - 1);
    for (const [first, last] of [...arrived.all, ...told.all]) missing.remove(first, last);
    return { arrived: arrived.all, givenUp: givenUp.all, missing: missing.all };
  }

  /** Count of missing numbers. */
  get missing(): number {
    const known = this.#valid('arrived');
    for (const [first, last] of this.#valid('givenUp').all) known.add(first, last);
    return Math.max(endOf(known), this.#sentBelow) - known.size;
  }

  /**
   * Returns true if the numbers show that this message arrived before. Only the latest starts have separate numbers: an
   * older start is assumed to have sent everything that all older starts together have sent.
   */
  has({ seq, boot }: Pick<Numbered, 'seq' | 'boot'>): boolean {
    if (isUnrecorded(boot)) return false;
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
    if (!isCounted(boot) || this.#arrived.has(seq)) return false;
    if (this.#starts.some((one) => !isCounted(one.boot))) return false;
    if (this.#starts.length === 0) return this.#arrived.size === 0;
    return this.#starts.find((one) => one.boot === boot)?.arrived.has(seq) === false;
  }

  /** Adds a message that did not arrive before. */
  arrive({ seq, boot, offset }: Numbered): void {
    if (isUnrecorded(boot)) return;
    (this.#startOf(boot, offset === undefined ? undefined : seq - offset)?.arrived ?? this.#arrived).add(seq);
  }

  /**
   * Adds a message that arrived before. The position of an uncounted start among the others is a guess. If the car
   * sends a message again although a later start seemed to have reused its number, then the car has this message under
   * this number.
   */
  arriveAgain({ seq, boot }: Numbered): void {
    const isMissing = this.report.missing.some(([first, last]) => first <= seq && seq <= last);
    if (isMissing && !isCounted(boot) && !isUnrecorded(boot)) (this.#starts.at(-1)?.arrived ?? this.#arrived).add(seq);
  }

  /**
   * Applies a `gap` message of the start `boot`: these numbers of the class will never arrive. Changes nothing if
   * `numbers` is omitted.
   */
  giveUp(boot: number, numbers: Gap['numbers'] = []): void {
    if (numbers.length === 0 || isUnrecorded(boot)) return;
    const givenUp = this.#startOf(boot, undefined)?.givenUp ?? this.#givenUp;
    for (const [first, last] of numbers) if (first <= last) givenUp.add(first, last);
  }

  /**
   * Applies a `hello` of the start `boot`, which reports up to which number the start has sent: a broker may have lost
   * the newest messages of a class.
   */
  sent(boot: number, { first, below }: Pick<HelloNumbers, 'first' | 'below'>): void {
    if (isUnrecorded(boot)) return;
    const end = Math.max(endOf(this.#valid('arrived')), endOf(this.#valid('givenUp')), this.#sentBelow);
    const isKnown = this.#starts.some((one) => one.boot === boot && one.first !== undefined);
    // Most reports contain nothing new, and only a few starts have separate numbers.
    if (below <= end && (isKnown || first >= end)) return;
    const start = this.#startOf(boot, first);
    if (start !== undefined) start.below = Math.max(start.below, below);
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

function runsOf(runs: readonly Run[]): Runs {
  const made = new Runs();
  for (const [first, last] of runs) made.add(first, last);
  return made;
}

/** Returns the highest number plus one, or 0. */
function endOf({ all }: Runs): number {
  return (all.at(-1)?.[1] ?? -1) + 1;
}

function addBelow(to: Runs, from: Runs, end: number): void {
  for (const [first, last] of from.all) if (first < end) to.add(first, Math.min(last, end - 1));
}

/** Moves the numbers from `first` upwards to `to`. */
function move(from: Runs, to: Runs, first: number): void {
  for (const [begin, last] of from.all) if (last >= first) to.add(Math.max(begin, first), last);
  from.remove(first, Number.POSITIVE_INFINITY);
}
