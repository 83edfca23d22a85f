/** Tracks messages that the agent will never send, until a receiver has acknowledged the gap message about them. */
import { classOf } from '../../protocol/classes.ts';
import { type Run, Runs } from '../../protocol/runs.ts';
import type { Gap } from '../../protocol/schema/gap.ts';
import { type Kind, kinds } from '../../protocol/schema/kind.ts';
import type { OutboxReference, OwedNumbers } from '../ports.ts';

/** Message class that numbers the gap messages. */
const GAP_CLASS = classOf('gap');

type Loss = Required<Pick<Gap, 'count' | 'bytes' | 'from' | 'to'>>;

/** Abandoned message numbers of one class. */
interface Tally {
  readonly numbers: Runs;
  readonly losses: Map<Kind, Loss>;
  /** Messages with a known number and no other known data. */
  readonly unknown: Runs;
}

/** Persisted form. */
interface Kept {
  readonly unreported: readonly Gap[];
  readonly reports: readonly (readonly [seq: number, gap: Gap])[];
}

/**
 * Holds every abandoned number until the gap message that reports it is acknowledged. A report therefore outlives its
 * message: if the message is damaged or refused, its gap is reported again.
 */
export class Gaps {
  readonly #unreported = new Map<number, Tally>();
  /** Contents of queued and in-flight gap messages, by message number. */
  readonly #reports = new Map<number, Gap>();

  /** Number of gap messages still to be created. */
  get unreported(): number {
    let unreported = 0;
    for (const { losses, unknown } of this.#unreported.values()) unreported += losses.size + Number(unknown.size > 0);
    return unreported;
  }

  /** Number of gap messages that are queued or in flight. */
  get underway(): number {
    return this.#reports.size;
  }

  /** Records a message that will never be sent; has no effect if it is already recorded. */
  note({ class: priority, seq, kind, at, bytes }: OutboxReference): void {
    if (this.has({ class: priority, seq })) return;
    if (priority === GAP_CLASS) this.#takeBack(seq);
    this.add({ class: priority, lost: kind as Kind, count: 1, bytes, from: at, to: at, numbers: [[seq, seq]] });
  }

  /** Returns true if the message was abandoned. */
  has({ class: priority, seq }: Pick<OutboxReference, 'class' | 'seq'>): boolean {
    const tally = this.#unreported.get(priority);
    if (tally?.numbers.has(seq) === true || tally?.unknown.has(seq) === true) return true;
    for (const { class: its, numbers = [] } of this.#reports.values()) {
      if (its === priority && numbers.some(([first, last]) => first <= seq && seq <= last)) return true;
    }
    return false;
  }

  /** Records lost numbers about which nothing else is known. Returns those not already recorded. */
  lose({ class: priority, numbers }: OwedNumbers): Runs {
    const lost = new Runs();
    for (const [first, last] of numbers) lost.add(first, last);
    for (const gap of [...this.#gaps(), ...this.#reports.values()]) {
      if (gap.class === priority) for (const [first, last] of gap.numbers ?? []) lost.remove(first, last);
    }
    if (lost.all.length === 0) return lost;
    if (priority === GAP_CLASS) for (const seq of [...this.#reports.keys()]) if (lost.has(seq)) this.#takeBack(seq);
    this.add({ class: priority, count: lost.size, numbers: [...lost.all] });
    return lost;
  }

  /** Adds the contents of a gap message. */
  add({ class: priority, lost, numbers = [], count, bytes = 0, from = 0, to = 0 }: Gap): void {
    const { numbers: known, losses, unknown } = this.#tally(priority);
    const runs = lost === undefined ? unknown : known;
    for (const [first, last] of numbers) runs.add(first, last);
    if (lost === undefined) return;
    const loss = { count, bytes, from, to };
    const before = losses.get(lost);
    losses.set(lost, before === undefined ? loss : both(before, loss));
  }

  /** Returns the gaps still to be reported, one per kind. The caller reports the outcome with {@link report}. */
  take(): Gap[] {
    const gaps = [...this.#gaps()];
    this.#unreported.clear();
    return gaps;
  }

  /** Records that gap message `seq` reports `gap`. */
  report(seq: number, gap: Gap): void {
    this.#reports.set(seq, gap);
  }

  /** Returns true if the contents of this gap message are known. */
  hasReport(seq: number): boolean {
    return this.#reports.has(seq);
  }

  /** Call when message `seq` has been acknowledged. If it was a gap message, returns the gap that it reported. */
  arrived(priority: number, seq: number): Gap | undefined {
    if (priority !== GAP_CLASS) return undefined;
    const gap = this.#reports.get(seq);
    this.#reports.delete(seq);
    return gap;
  }

  /** Returns data for {@link restore}, or undefined if nothing was abandoned. */
  state(): Kept | undefined {
    if (this.#unreported.size === 0 && this.#reports.size === 0) return undefined;
    return { unreported: [...this.#gaps()], reports: [...this.#reports] };
  }

  /** Restores {@link state}. Treats gap messages that are no longer queued as acknowledged. */
  restore(state: unknown, waits: (priority: number, seq: number) => boolean): void {
    const { unreported, reports } = state as Kept;
    for (const gap of unreported) if (isGap(gap)) this.add(gap);
    for (const [seq, gap] of reports) if (isGap(gap) && waits(GAP_CLASS, seq)) this.report(seq, gap);
  }

  #takeBack(seq: number): void {
    const gap = this.#reports.get(seq);
    if (gap === undefined) return;
    this.#reports.delete(seq);
    this.add(gap);
  }

  *#gaps(): Generator<Gap> {
    for (const [priority, { numbers, losses, unknown }] of this.#unreported) {
      const runs: Run[] = [...numbers.all];
      for (const [lost, loss] of losses) yield { class: priority, lost, ...loss, numbers: runs };
      if (unknown.size > 0) yield { class: priority, count: unknown.size, numbers: [...unknown.all] };
    }
  }

  #tally(priority: number): Tally {
    let tally = this.#unreported.get(priority);
    if (tally === undefined) {
      tally = { numbers: new Runs(), losses: new Map(), unknown: new Runs() };
      this.#unreported.set(priority, tally);
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

/** Returns true if a persisted value has the form of this version. */
function isGap({ class: priority, lost, count, bytes, from, to }: Gap): boolean {
  const known = lost === undefined || (kinds.includes(lost) && [bytes, from, to].every(Number.isSafeInteger));
  return known && [priority, count].every(Number.isSafeInteger);
}
