/** Messages that the agent will never send, until a receiver has acknowledged the report of them. */
import { classOf } from '../../protocol/classes.ts';
import { type Run, Runs } from '../../protocol/runs.ts';
import type { Gap } from '../../protocol/schema/gap.ts';
import { type Kind, kinds } from '../../protocol/schema/kind.ts';
import type { OutboxReference, OwedNumbers } from '../ports.ts';

/** The class whose numbers gap messages have. */
const GAP_CLASS = classOf('gap');

type Loss = Required<Pick<Gap, 'count' | 'bytes' | 'from' | 'to'>>;

/** What was given up of a class. */
interface Tally {
  readonly numbers: Runs;
  readonly losses: Map<Kind, Loss>;
  /** Messages of which nothing but the number is known. */
  readonly unknown: Runs;
}

/** As it is kept between two starts. */
interface Kept {
  readonly untold: readonly Gap[];
  readonly told: readonly (readonly [seq: number, gap: Gap])[];
}

/**
 * Every number that is given up is noted here until the gap message that tells of it has been acknowledged. So what a
 * gap message says outlives the message: one that is damaged or refused gives back what it was to tell.
 */
export class Gaps {
  readonly #untold = new Map<number, Tally>();
  /** What the gap messages say that wait or are on their way, by their number. */
  readonly #told = new Map<number, Gap>();

  /** Gap messages that are still to be made. */
  get untold(): number {
    let untold = 0;
    for (const { losses, unknown } of this.#untold.values()) untold += losses.size + Number(unknown.size > 0);
    return untold;
  }

  /** Gap messages that wait or are on their way. */
  get underway(): number {
    return this.#told.size;
  }

  /** Notes a message that will never be sent; what was noted before changes nothing. */
  note({ class: priority, seq, kind, at, bytes }: OutboxReference): void {
    if (this.has({ class: priority, seq })) return;
    if (priority === GAP_CLASS) this.#takeBack(seq);
    this.add({ class: priority, lost: kind as Kind, count: 1, bytes, from: at, to: at, numbers: [[seq, seq]] });
  }

  /** Whether the message was given up. */
  has({ class: priority, seq }: Pick<OutboxReference, 'class' | 'seq'>): boolean {
    const tally = this.#untold.get(priority);
    if (tally?.numbers.has(seq) === true || tally?.unknown.has(seq) === true) return true;
    for (const { class: its, numbers = [] } of this.#told.values()) {
      if (its === priority && numbers.some(([first, last]) => first <= seq && seq <= last)) return true;
    }
    return false;
  }

  /** Notes numbers of which nothing else is known; gives those of them that were not noted before. */
  lose({ class: priority, numbers }: OwedNumbers): Runs {
    const lost = new Runs();
    for (const [first, last] of numbers) lost.add(first, last);
    for (const gap of [...this.#gaps(), ...this.#told.values()]) {
      if (gap.class === priority) for (const [first, last] of gap.numbers ?? []) lost.remove(first, last);
    }
    if (lost.all.length === 0) return lost;
    if (priority === GAP_CLASS) for (const seq of [...this.#told.keys()]) if (lost.has(seq)) this.#takeBack(seq);
    this.add({ class: priority, count: lost.size, numbers: [...lost.all] });
    return lost;
  }

  /** Adds what a gap message could have said. */
  add({ class: priority, lost, numbers = [], count, bytes = 0, from = 0, to = 0 }: Gap): void {
    const { numbers: known, losses, unknown } = this.#tally(priority);
    const runs = lost === undefined ? unknown : known;
    for (const [first, last] of numbers) runs.add(first, last);
    if (lost === undefined) return;
    const loss = { count, bytes, from, to };
    const before = losses.get(lost);
    losses.set(lost, before === undefined ? loss : both(before, loss));
  }

  /** Gaps that are still to be reported, one for each kind. The caller reports the outcome with {@link tell}. */
  take(): Gap[] {
    const gaps = [...this.#gaps()];
    this.#untold.clear();
    return gaps;
  }

  /** The gap message with this number tells it. */
  tell(seq: number, gap: Gap): void {
    this.#told.set(seq, gap);
  }

  /** Whether it is known what the gap message with this number tells. */
  tells(seq: number): boolean {
    return this.#told.has(seq);
  }

  /** The message with this number has arrived. If it was a gap message, the receiver knows its gap: returns that. */
  arrived(priority: number, seq: number): Gap | undefined {
    if (priority !== GAP_CLASS) return undefined;
    const gap = this.#told.get(seq);
    this.#told.delete(seq);
    return gap;
  }

  /** Data for {@link restore}; undefined when nothing was given up. */
  state(): Kept | undefined {
    if (this.#untold.size === 0 && this.#told.size === 0) return undefined;
    return { untold: [...this.#gaps()], told: [...this.#told] };
  }

  /** Takes up what {@link state} gave; a gap message that does not wait any more was acknowledged. */
  restore(state: unknown, waits: (priority: number, seq: number) => boolean): void {
    const { untold, told } = state as Kept;
    for (const gap of untold) if (isGap(gap)) this.add(gap);
    for (const [seq, gap] of told) if (isGap(gap) && waits(GAP_CLASS, seq)) this.tell(seq, gap);
  }

  #takeBack(seq: number): void {
    const gap = this.#told.get(seq);
    if (gap === undefined) return;
    this.#told.delete(seq);
    this.add(gap);
  }

  *#gaps(): Generator<Gap> {
    for (const [priority, { numbers, losses, unknown }] of this.#untold) {
      const runs: Run[] = [...numbers.all];
      for (const [lost, loss] of losses) yield { class: priority, lost, ...loss, numbers: runs };
      if (unknown.size > 0) yield { class: priority, count: unknown.size, numbers: [...unknown.all] };
    }
  }

  #tally(priority: number): Tally {
    let tally = this.#untold.get(priority);
    if (tally === undefined) {
      tally = { numbers: new Runs(), losses: new Map(), unknown: new Runs() };
      this.#untold.set(priority, tally);
    }
    return tally;
  }
}

function both(a: Loss, b: Loss): Loss {
  return {
    count: a.count + b.count,
    bytes: a.bytes + b.bytes,
    from: Math.min(a.from, b.from),
    to: Math.max(a.to, b.to),
  };
}

/** Whether it is what this version keeps: another may have kept something else. */
function isGap({ class: priority, lost, count, bytes, from, to }: Gap): boolean {
  const known = lost === undefined || (kinds.includes(lost) && [bytes, from, to].every(Number.isSafeInteger));
  return known && [priority, count].every(Number.isSafeInteger);
}
