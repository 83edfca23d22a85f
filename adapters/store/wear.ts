/**
 * Counts the bytes written to the medium. Flash wears in whole pages, so a flush of few bytes counts for a page.
 * Writes of the file system for its own purposes are not counted.
 */

import { DAY } from '../../protocol/calendar.ts';

const page = 4096;

export class Wear {
  /** Bytes per day that the medium is meant to endure. */
  readonly bound: number;
  readonly #now: () => number | undefined;
  #day = 0;
  #today = 0;
  #total = 0;

  /** `now` returns UTC milliseconds, or undefined while the time is unknown: then the day does not end. */
  constructor(bound: number, now: () => number | undefined) {
    this.bound = bound;
    this.#now = now;
  }

  /** Bytes written since the start. */
  get total(): number {
    return this.#total;
  }

  /** Day of {@link today}, days since 1970. */
  get day(): number {
    return this.#day;
  }

  /** Bytes written on that day. */
  get today(): number {
    return this.#today;
  }

  /** True if more was written today than the bound allows. */
  get exceeded(): boolean {
    this.#look();
    return this.#today > this.bound;
  }

  /** Continues with the bytes that an earlier run wrote that day. */
  resume({ day, bytes }: { readonly day: number; readonly bytes: number }): void {
    this.#day = day;
    this.#today = bytes;
    this.#look();
  }

  /** Call after a flush put bytes `from` to `to` of a file on the medium. */
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
