/**
 * How much is put on the medium. Flash is worn by whole pages, so a flush of few bytes counts for a page; what the
 * file system writes for itself is not counted.
 */

import { DAY } from '../../protocol/calendar.ts';

const page = 4096;

export class Wear {
  /** Bytes a day that the medium is meant to take. */
  readonly bound: number;
  readonly #now: () => number | undefined;
  #day = 0;
  #today = 0;
  #total = 0;

  /** `now` gives UTC milliseconds, or undefined while the time is unknown: then the day does not end. */
  constructor(bound: number, now: () => number | undefined) {
    this.bound = bound;
    this.#now = now;
  }

  /** Bytes since the start. */
  get total(): number {
    return this.#total;
  }

  /** Days since 1970, of {@link today}. */
  get day(): number {
    return this.#day;
  }

  /** Bytes of the day. */
  get today(): number {
    return this.#today;
  }

  /** More was written today than is good for the medium. */
  get exceeded(): boolean {
    this.#look();
    return this.#today > this.bound;
  }

  /** Goes on with what an earlier run wrote that day. */
  resume({ day, bytes }: { readonly day: number; readonly bytes: number }): void {
    this.#day = day;
    this.#today = bytes;
    this.#look();
  }

  /** A flush put `from` to `to` of a file on the medium. */
  flushed(from: number, to: number): void {
    this.#look();
    const bytes = (Math.ceil(to / page) - Math.floor(from / page)) * page;
    this.#today += bytes;
    this.#total += bytes;
  }

  #look(): void {
    const now = this.#now();
    if (now === undefined) return;
    const day = Math.max(0, Math.floor(now / DAY));
    if (day === this.#day) return;
    this.#day = day;
    this.#today = 0;
  }
}
