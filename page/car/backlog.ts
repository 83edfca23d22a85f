/** How many messages waited over time: the last minutes, and the last outage until the next one begins. */
import type { LinkReport } from '../../protocol/interface/own/car-description.ts';

/** Shown period while there was no outage. */
const QUIET_SPAN_MS = 120_000;
/** Shown period before and after an outage. */
const OUTAGE_MARGIN_MS = 10_000;
/** The page knows the time of the car to the second. */
const CLOCK_TOLERANCE_MS = 2_000;
/** A chart has no room for more. */
const MAX_POINTS = 600;

/** UTC ms of the car, and the messages that wait from then on. */
export type Sample = readonly [at: number, waiting: number];

export interface Outage {
  readonly from: number;
  /** When the broker was back. If omitted, it is not back yet. */
  readonly to?: number | undefined;
  /** When the backlog was sent. If omitted, more messages wait than before the outage. */
  readonly drained?: number;
  readonly most: number;
}

export class Backlog {
  /** Those of the last outage, else of the last minutes; oldest first. */
  get samples(): readonly Sample[] {
    return this.#outage === undefined ? this.#recent : this.#kept;
  }

  get outage(): Outage | undefined {
    return this.#outage;
  }

  #recent: Sample[] = [];
  #kept: Sample[] = [];
  #outage: Outage | undefined;
  /** Messages that waited when the outage began. */
  #before = 0;

  /** First and last time to show. */
  span(now: number): readonly [from: number, to: number] {
    if (this.#outage === undefined) return [now - QUIET_SPAN_MS, now];
    const { from, drained } = this.#outage;
    return [from - OUTAGE_MARGIN_MS, drained === undefined ? now : Math.min(now, drained + OUTAGE_MARGIN_MS)];
  }

  take(at: number, { state, waiting }: Pick<LinkReport, 'state' | 'waiting'>): void {
    if ((this.#recent.at(-1)?.[0] ?? at) > at + CLOCK_TOLERANCE_MS) {
      // The clock was set back: what was before has no place on a line that goes forward.
      this.#recent = [];
      this.#outage = undefined;
    }
    const before = this.#recent.at(-1)?.[1];
    this.#recent = bounded([...this.#recent, [at, waiting]], at - QUIET_SPAN_MS);
    if (state !== 'up' && (this.#outage === undefined || this.#outage.drained !== undefined)) {
      this.#before = before ?? 0;
      this.#outage = { from: at, most: waiting };
      this.#kept = bounded(this.#recent, at - OUTAGE_MARGIN_MS);
      return;
    }
    if (this.#outage === undefined) return;
    const { drained, to } = this.#outage;
    if (drained !== undefined && at > drained + OUTAGE_MARGIN_MS) return;
    this.#kept = bounded([...this.#kept, [at, waiting]]);
    if (drained !== undefined) return;
    this.#outage = {
      ...this.#outage,
      to: state === 'up' ? (to ?? at) : undefined,
      most: Math.max(this.#outage.most, waiting),
      // One message or another always waits for its acknowledgement.
      ...(state === 'up' && waiting <= Math.max(this.#before, 1) ? { drained: at } : {}),
    };
  }
}

/** Without what is older than `oldest`, except for what was so then; of too many the greater one of each two. */
function bounded(samples: readonly Sample[], oldest = Number.NEGATIVE_INFINITY): Sample[] {
  const first = samples.findLastIndex(([at]) => at <= oldest);
  const kept = samples.slice(Math.max(0, first));
  if (kept.length <= MAX_POINTS) return kept;
  return kept.filter(([, waiting], index) => {
    const other = kept[index ^ 1]?.[1] ?? -1;
    return index % 2 === 0 ? waiting > other : waiting >= other;
  });
}
