/** Number of waiting messages over time: the last minutes, or the last outage until the next one begins. */
import type { LinkReport } from '../../protocol/interface/own/car-description.ts';

/** Period that is displayed if there was no outage. */
const QUIET_SPAN_MS = 120_000;
/** Additional period that is displayed before and after an outage. */
const OUTAGE_MARGIN_MS = 10_000;
/** Tolerance in ms, because the page knows the car's time only in whole seconds. */
const CLOCK_TOLERANCE_MS = 2_000;
/** Largest number of points in a chart. */
const MAX_POINTS = 600;

/** Time of the car in UTC ms, and the number of messages that wait from then on. */
export type Sample = readonly [at: number, waiting: number];

export interface Outage {
  readonly from: number;
  /** Time when the connection to the broker was restored. Omitted until then. */
  readonly to?: number | undefined;
  /** Time when the backlog had been sent. Omitted while more messages wait than before the outage. */
  readonly drained?: number;
  readonly most: number;
}

export class Backlog {
  /** Samples of the last outage or, if there was none, of the last minutes. Oldest first. */
  get samples(): readonly Sample[] {
    return this.#outage === undefined ? this.#recent : this.#kept;
  }

  get outage(): Outage | undefined {
    return this.#outage;
  }

  #recent: Sample[] = [];
  #kept: Sample[] = [];
  #outage: Outage | undefined;
  /** Number of waiting messages when the outage began. */
  #before = 0;

  /** Returns the first and last time to display. */
  span(now: number): readonly [from: number, to: number] {
    if (this.#outage === undefined) return [now - QUIET_SPAN_MS, now];
    const { from, drained } = this.#outage;
    return [from - OUTAGE_MARGIN_MS, drained === undefined ? now : Math.min(now, drained + OUTAGE_MARGIN_MS)];
  }

  take(at: number, { state, waiting }: Pick<LinkReport, 'state' | 'waiting'>): void {
    if ((this.#recent.at(-1)?.[0] ?? at) > at + CLOCK_TOLERANCE_MS) {
      // If the clock was set back, drop older samples: time on the chart only increases.
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
      // Even without an outage, one message may be waiting for its acknowledgement.
      ...(state === 'up' && waiting <= Math.max(this.#before, 1) ? { drained: at } : {}),
    };
  }
}

/** Drops samples before `oldest`, except the one valid then. If too many remain, keeps the larger of each pair. */
function bounded(samples: readonly Sample[], oldest = Number.NEGATIVE_INFINITY): Sample[] {
  const first = samples.findLastIndex(([at]) => at <= oldest);
  const kept = samples.slice(Math.max(0, first));
  if (kept.length <= MAX_POINTS) return kept;
  return kept.filter(([, waiting], index) => {
    const other = kept[index ^ 1]?.[1] ?? -1;
    return index % 2 === 0 ? waiting > other : waiting >= other;
  });
}
