/**
 * Occurrences at wall-clock times, in the calendar of a time zone. It has no timer: its owner polls it at each tick. It
 * returns each occurrence once, even late, however often the clock steps and the agent restarts.
 */

import { DAY, weekdayOf } from '../../protocol/calendar.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { zoneOf } from '../monitors/calendar.ts';

/** Due time of an item. */
export type When =
  | { readonly kind: 'once' /** UTC ms. */; readonly at: number }
  | {
      readonly kind: 'local';
      /** Time of day, seconds since midnight. */
      readonly seconds: number;
      /** One flag per day of the week, Monday first. */
      readonly weekdays: readonly boolean[];
      /** Time zone of the IANA database. */
      readonly zone: string;
      /** If false, only the first occurrence counts. */
      readonly repeats: boolean;
    };

/** An occurrence that is due. */
export interface Occurrence {
  readonly key: string;
  /** Its due time, UTC ms. */
  readonly due: number;
  /** Number of earlier occurrences of the same key that passed between two calls of the owner. */
  readonly skipped: number;
  /** True if no other occurrence follows. */
  readonly last: boolean;
}

interface Item {
  readonly key: string;
  readonly when: When;
  next: number;
  /** Due time of the newest emitted occurrence. */
  last: number | undefined;
}

/** Largest time by which the clock may have been ahead when it returned an occurrence. Beyond, that clock was wrong. */
const WRONG = 2 * DAY;
/** Longest time between two occurrences, plus a day for clock changes of the zone. */
const WEEK = 8 * DAY;

export class Schedule {
  readonly #items = new Map<string, Item>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** Schedules `key`, replacing its previous schedule. Occurrences up to `now` count as missed only for `once`. */
  set(key: string, when: When, now: number): void {
    const next = when.kind === 'once' ? when.at : nextOf(when, now);
    this.#items.set(key, { key, when, next, last: undefined });
  }

  remove(key: string): void {
    this.#items.delete(key);
  }

  has(key: string): boolean {
    return this.#items.has(key);
  }

  /** Time of the next occurrence, UTC ms. Undefined if there is none. */
  get next(): number | undefined {
    let next: number | undefined;
    for (const item of this.#items.values()) if (next === undefined || item.next < next) next = item.next;
    return next;
  }

  /** Returns due occurrences, soonest first. If several of one key were missed, returns only the newest. */
  take(now: number): Occurrence[] {
    if (now < this.#lookedAt) this.#stepBack(now);
    this.#lookedAt = now;
    const due: Occurrence[] = [];
    for (const item of [...this.#items.values()]) {
      if (item.next > now) continue;
      due.push(this.#out(item, now));
    }
    return due.sort((a, b) => a.due - b.due || (a.key < b.key ? -1 : 1));
  }

  #out(item: Item, now: number): Occurrence {
    const { key, when } = item;
    if (when.kind === 'once' || !when.repeats) {
      this.#items.delete(key);
      return { key, due: item.next, skipped: 0, last: true };
    }
    let due = item.next;
    let skipped = 0;
    for (let next = nextOf(when, due); next <= now; next = nextOf(when, due)) {
      due = next;
      skipped++;
    }
    item.last = due;
    item.next = nextOf(when, due);
    return { key, due, skipped, last: false };
  }

  /** Call after the clock was set back. Returned occurrences do not repeat; those that are now nearer are scheduled. */
  #stepBack(now: number): void {
    for (const item of this.#items.values()) {
      if (item.when.kind === 'once' || item.next <= now) continue;
      const last = item.last !== undefined && item.last <= now + WRONG ? item.last : now;
      item.next = nextOf(item.when, Math.max(now, last));
    }
  }

  /** Returns data of types that CBOR and JSON have. */
  state(): unknown {
    return {
      items: [...this.#items.values()].map(({ key, when, next, last }) => ({
        key,
        when,
        next,
        ...defined({ last }),
      })),
    };
  }

  /** Restores {@link state}. @throws VigieError `input.malformed` if `state` is invalid; nothing is restored then */
  restore(state: unknown): void {
    const items = (state as { items?: unknown } | undefined)?.items;
    if (!Array.isArray(items)) throw new VigieError('input.malformed', 'the stored schedule is not a list');
    const read = items.map(itemOf);
    this.#items.clear();
    for (const item of read) this.#items.set(item.key, item);
  }
}

/** Returns the first due time after `after`. The weekdays contain at least one day. */
export function nextOf(when: When, after: number): number {
  if (when.kind === 'once') return when.at;
  const zone = zoneOf(when.zone);
  const today = zone.day(after);
  // The previous day can extend past midnight if clocks skip an hour around it.
  for (let day = today - 1; day <= today + WEEK / DAY; day++) {
    if (when.weekdays[weekdayOf(day)] !== true) continue;
    const moment = zone.moment(day * DAY + when.seconds * 1000);
    if (moment > after) return moment;
  }
  throw new VigieError('input.malformed', 'a program without a day of the week is never due');
}

/** Returns the seconds since midnight on the clocks of a zone at a time. */
export function localSeconds(zone: string, at: number): number {
  return Math.floor((at + zoneOf(zone).offset(at) - zoneOf(zone).day(at) * DAY) / 1000);
}

function itemOf(data: unknown): Item {
  const { key, when, next, last } = (data ?? {}) as Partial<Item>;
  const sound = typeof key === 'string' && Number.isFinite(next) && (last === undefined || Number.isFinite(last));
  if (!sound || !isWhen(when))
    throw new VigieError('input.malformed', 'an entry of the stored schedule is not readable');
  return { key, when, next: next as number, last };
}

function isWhen(when: Partial<When> | undefined): when is When {
  if (when?.kind === 'once') return Number.isFinite(when.at);
  if (when?.kind !== 'local' || !Number.isFinite(when.seconds) || typeof when.repeats !== 'boolean') return false;
  if (!Array.isArray(when.weekdays) || !when.weekdays.includes(true)) return false;
  try {
    return typeof when.zone === 'string' && Number.isFinite(zoneOf(when.zone).offset(0));
  } catch {
    // The IANA database of this engine no longer has the zone.
    return false;
  }
}
