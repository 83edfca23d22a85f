/** Which numbers of one class of a car arrived, which the car gave up, and which are missing. */
import { type Run, Runs } from '../../protocol/runs.ts';
import type { Gap } from '../../protocol/schema/gap.ts';
import type { HelloNumbers } from '../../protocol/schema/hello.ts';
import type { Envelope } from '../../protocol/schema/message.ts';
import { isCounted, isUnrecorded, lifeOf } from './lives.ts';

/**
 * Numbers of one start of the agent: [boot, the first assigned number, arrived, given up, the number
 * below which it reports to have sent all].
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
  /** From starts before those of `starts`. */
  readonly arrived: readonly Run[];
  /** As `gap` messages of these starts say, numbers included that arrived all the same. */
  readonly givenUp: readonly Run[];
  /** The newest starts, in the order in which the car made them. */
  readonly starts: readonly KeptStart[];
}

/** Ascending runs; every number from 0 up to the highest that is known is in exactly one of the three lists. */
export interface NumbersReport {
  readonly arrived: readonly Run[];
  readonly givenUp: readonly Run[];
  readonly missing: readonly Run[];
}

/** Members of a message that are counted; `boot` is the number of its start at the hub ({@link ./lives.ts}). */
type Numbered = Pick<Envelope, 'seq' | 'boot' | 'offset'>;

interface Start {
  readonly boot: number;
  /** Undefined until a message of this class contains it. */
  first: number | undefined;
  readonly arrived: Runs;
  readonly givenUp: Runs;
  /** By its own report, all lower numbers were sent or given up. */
  below: number;
}

/** Latest starts of a car with separate numbers. Messages of older starts arrive only on request. */
const STARTS = 4;

/**
 * A car numbers each class from 0, without a hole and for ever, so what is in neither set is missing. After its disk
 * refused to write, a start gives numbers out again that the start before has sent from memory: from the first number
 * of a start on, what earlier starts sent or gave up says nothing of the number. Numbers of a start without records are its
 * own: they are not counted.
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

  /** Nothing is known of the class. */
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

  /** How many numbers are missing. */
  get missing(): number {
    const known = this.#valid('arrived');
    for (const [first, last] of this.#valid('givenUp').all) known.add(first, last);
    return Math.max(endOf(known), this.#sentBelow) - known.size;
  }

  /**
   * Whether this message was here before, as far as numbers say. Only some starts are kept apart: one that is older
   * than these is assumed to have sent what they together have sent.
   */
  has({ seq, boot }: Pick<Numbered, 'seq' | 'boot'>): boolean {
    if (isUnrecorded(boot)) return false;
    const start = this.#starts.find((one) => one.boot === boot);
    if (start !== undefined) return start.arrived.has(seq);
    return this.#starts.length === STARTS && isCounted(boot) && this.#arrived.has(seq);
  }

  /** A message that was not here before. */
  arrive({ seq, boot, offset }: Numbered): void {
    if (isUnrecorded(boot)) return;
    (this.#startOf(boot, offset === undefined ? undefined : seq - offset)?.arrived ?? this.#arrived).add(seq);
  }

  /**
   * A message that was here before. The place of an uncounted start among the others is a guess: a message that the car
   * sends again although a later start seemed to have taken its number is the one that the car has under this number.
   */
  arriveAgain({ seq, boot }: Numbered): void {
    const isMissing = this.report.missing.some(([first, last]) => first <= seq && seq <= last);
    if (isMissing && !isCounted(boot) && !isUnrecorded(boot)) (this.#starts.at(-1)?.arrived ?? this.#arrived).add(seq);
  }

  /**
   * A `gap` message of the start `boot` says which numbers of the class never come; one without numbers says nothing of
   * them.
   */
  giveUp(boot: number, numbers: Gap['numbers'] = []): void {
    if (numbers.length === 0 || isUnrecorded(boot)) return;
    const givenUp = this.#startOf(boot, undefined)?.givenUp ?? this.#givenUp;
    for (const [first, last] of numbers) if (first <= last) givenUp.add(first, last);
  }

  /**
   * A `hello` of the start `boot` says how far it has sent: a broker may have lost the newest messages of a class.
   */
  sent(boot: number, { first, below }: Pick<HelloNumbers, 'first' | 'below'>): void {
    if (isUnrecorded(boot)) return;
    const end = Math.max(endOf(this.#valid('arrived')), endOf(this.#valid('givenUp')), this.#sentBelow);
    const isKnown = this.#starts.some((one) => one.boot === boot && one.first !== undefined);
    // Most say nothing new, and only a few starts are kept apart.
    if (below <= end && (isKnown || first >= end)) return;
    const start = this.#startOf(boot, first);
    if (start !== undefined) start.below = Math.max(start.below, below);
  }

  /** All lower numbers were sent or given up, by reports of starts about numbers that no later start uses again. */
  get #sentBelow(): number {
    let [below, end] = [0, Number.POSITIVE_INFINITY];
    for (const start of this.#starts.toReversed()) {
      below = Math.max(below, Math.min(start.below, end));
      end = Math.min(end, reusedFrom(start));
    }
    return below;
  }

  /** Without what was sent or given up under a number before a later start gave the number out again. */
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

  /** Undefined for a start before all that are kept apart. */
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
    // A bench that starts its receiver knows which numbers arrived, and not which start sent them: this one may have.
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
 * Whether a start that is not listed came before one that is. If one of them is uncounted, their boots do not show it,
 * but first numbers never decrease from start to start. If they are equal, the earlier start sent from memory alone, so
 * none of its messages waited on the disk: the start that arrives first is the earlier one.
 */
function isBefore({ boot, first = Number.POSITIVE_INFINITY }: Pick<Start, 'boot' | 'first'>, listed: Start): boolean {
  if (lifeOf(boot) !== lifeOf(listed.boot)) return boot < listed.boot;
  if (!isCounted(boot) || !isCounted(listed.boot)) return (listed.first ?? -1) > first;
  return boot < listed.boot;
}

/**
 * The lowest number that the start gave out, possibly after an earlier start; Infinity if it has given out none as far
 * as is known. Until it has, numbers that an earlier start sent stay valid: the place of a start with the same first
 * number may be wrong.
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

/** Number after the highest, or 0. */
function endOf({ all }: Runs): number {
  return (all.at(-1)?.[1] ?? -1) + 1;
}

function addBelow(to: Runs, from: Runs, end: number): void {
  for (const [first, last] of from.all) if (first < end) to.add(first, Math.min(last, end - 1));
}

/** Moves the numbers from `first` on. */
function move(from: Runs, to: Runs, first: number): void {
  for (const [begin, last] of from.all) if (last >= first) to.add(Math.max(begin, first), last);
  from.remove(first, Number.POSITIVE_INFINITY);
}
