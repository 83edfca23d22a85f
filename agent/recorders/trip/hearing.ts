/** Slots that were read, also unchanged: Status notifies of changes, and shows repetitions by freshness only. */
import { type Slot, slotByPath } from '../../../protocol/slots.ts';
import type { StatusReader } from '../../model/status.ts';
import { watched } from './slots.ts';

/** A value is fresh if it was read up to this long after the time of the query, ms. */
const AHEAD = 1_000;

/** Slots read between two polls. */
export interface HeardSlots {
  readonly changed: ReadonlySet<Slot>;
  /** Read, and still what it was. */
  readonly repeated: ReadonlySet<Slot>;
}

/** Notes what is read between one look and the next, which are about a second apart. */
export class Hearing {
  readonly #status: StatusReader;
  readonly #changed = new Set<Slot>();
  /** Repetitions that an earlier run had found since the last poll. */
  readonly #repeated = new Set<Slot>();
  /** The last look, UTC milliseconds. */
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
   * Read in the second or two after the last look, or known to be from an earlier run. After the clock has stepped back
   * such a reading is not fresh any more, and yet it was heard.
   */
  #readSoon(slot: Slot): boolean {
    const since = this.#since;
    if (this.#repeated.has(slot)) return true;
    return since !== null && (this.#readSince(slot, since) || this.#readSince(slot, since + AHEAD));
  }

  /** Fresh at `now`, and not read yet just before the last look: a reading may be of the same moment as that. */
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
