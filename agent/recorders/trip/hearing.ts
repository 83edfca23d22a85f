/** Detects slots that were read, even if unchanged: Status only notifies of changes, but knows freshness. */
import { type Slot, slotByPath } from '../../../protocol/slots.ts';
import type { StatusReader } from '../../model/status.ts';
import { watched } from './slots.ts';

/** Time in ms by which a value may be read after the queried time and still count as fresh. */
const AHEAD = 1_000;

/** Slots read between two polls. */
export interface HeardSlots {
  readonly changed: ReadonlySet<Slot>;
  /** Slots that were read unchanged. */
  readonly repeated: ReadonlySet<Slot>;
}

/** Records the slots read between two polls, which are about a second apart. */
export class Hearing {
  readonly #status: StatusReader;
  readonly #changed = new Set<Slot>();
  /** Repetitions that an earlier run had found since the last poll. */
  readonly #repeated = new Set<Slot>();
  /** Time of the last poll, UTC milliseconds. */
  #since: number | null = null;

  constructor(status: StatusReader) {
    this.#status = status;
  }

  changed(slot: Slot): void {
    this.#changed.add(slot);
  }

  removed(slot: Slot): void {
    this.#changed.delete(slot);
    this.#repeated.delete(slot);
  }

  look(now: number): HeardSlots {
    const changed = new Set(this.#changed);
    const repeated = new Set<Slot>();
    for (const slot of watched) {
      if (!changed.has(slot) && (this.#readSince(slot, now) || this.#readSoon(slot))) repeated.add(slot);
    }
    this.#changed.clear();
    this.#repeated.clear();
    this.#since = now;
    return { changed, repeated };
  }

  correct(by: number): void {
    if (this.#since !== null) this.#since += by;
  }

  state(): { since: number | null; changed: string[]; repeated: string[] } {
    const since = this.#since;
    const repeated = watched.filter((slot) => !this.#changed.has(slot) && this.#readSoon(slot));
    return { since, changed: paths(this.#changed), repeated: paths(repeated) };
  }

  restore(kept: { since: number | null; changed: readonly string[]; repeated: readonly string[] }): void {
    this.#since = kept.since;
    fill(this.#changed, kept.changed);
    fill(this.#repeated, kept.repeated);
  }

  /**
   * Returns true if the slot was read within about two seconds after the last poll, or is known from an earlier run.
   * After the clock has stepped back, such a reading is no longer fresh, but was still received.
   */
  #readSoon(slot: Slot): boolean {
    const since = this.#since;
    if (this.#repeated.has(slot)) return true;
    return since !== null && (this.#readSince(slot, since) || this.#readSince(slot, since + AHEAD));
  }

  /** Returns true if the slot is fresh at `now` and was not read by the time of the last poll. */
  #readSince(slot: Slot, now: number): boolean {
    if (!this.#status.fresh(slot, now)) return false;
    return this.#since === null || !this.#status.fresh(slot, this.#since - 1 - AHEAD);
  }
}

function paths(slots: Iterable<Slot>): string[] {
  return [...slots].map(({ path }) => path).sort();
}

function fill(slots: Set<Slot>, kept: readonly string[]): void {
  slots.clear();
  for (const path of kept) {
    const slot = slotByPath.get(path);
    if (slot !== undefined) slots.add(slot);
  }
}
