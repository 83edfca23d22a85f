/**
 * Counts the bytes written to the medium. Flash wears in whole pages, so even a flush of a few bytes counts as a page.
 * Writes that the file system makes for its own purposes are not counted.
 */

import { DAY } from '../../protocol/calendar.ts';

const page = 4096;

export class Wear {
  /** Bytes per day that the medium should endure. */
  readonly bound: number;
  readonly #now: () => number | undefined;
  #day = 0;
  #today = 0;
  #total = 0;

  /** @param now returns UTC ms, or undefined while the time is unknown: then the current day does not end */
  constructor(bound: number, now: () => number | undefined) {
    this.bound = bound;
    this.#now = now;
  }

  /** Bytes written since the start. */
  get total(): number {
    return this.#total;
  }

  /** Day that {@link today} refers to, in days since 1970. */
  get day(): number {
    return this.#day;
  }

  /** Bytes written on {@link day}. */
  get today(): number {
    return this.#today;
  }

  /** True if more than the bound has been written today. */
  get exceeded(): boolean {
    this.#look();
    return this.#today > this.bound;
  }

  /** Continues with the bytes that an earlier run wrote on this day. */
  resume({ day, bytes }: { readonly day: number; readonly bytes: number }): void {
    this.#day = day;
    this.#today = bytes;
    this.#look();
  }

  /** Call after a flush has written bytes `from` to `to` of a file to the medium. */
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
