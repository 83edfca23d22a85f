/**
 * Time as trips have it: that of the readings, but it never runs back. Times of a trip are kept in its own time to
 * its end: when the clock steps back during a trip, `lead` is by how much trip time is ahead of the clock from then on.
 * While the car is parked trip time waits at the end of the last trip until the clock has caught up.
 */
import { DAY } from '../../../protocol/calendar.ts';

export interface Timeline {
  /** Trip time of the last event; null before the first. */
  last: number | null;
  lead: number;
  /** End of the last trip; none begins before. */
  floor: number | null;
}

/** Readings of several sources may come out of order by this much, ms. */
const DISORDER = 10_000;
/** A clock that steps back further was wrong before: what it said is corrected, not kept. ms */

/**
 * Takes the moment of an event, UTC milliseconds. `held`: a trip is open or about to open. `shift` is by how much all
 * times known so far are to be moved before the event is taken, 0 or negative; `at` is its trip time.
 */
export function proceed(line: Timeline, at: number, held: boolean): { at: number; shift: number } {
  if (!held) {
    if (line.floor !== null && line.floor - at > DAY) line.floor = null;
    line.lead = Math.max(0, (line.floor ?? at) - at);
  }
  const { last } = line;
  let now = at + line.lead;
  let shift = 0;
  if (last !== null && now < last) {
    const back = last - now;
    if (back <= DISORDER) now = last;
    else if (!held || back > DAY) {
      shift = -back;
      if (held) line.floor = null;
    } else {
      line.lead += back;
      now = last;
    }
  }
  line.last = now;
  return { at: now, shift };
}

/**
 * The clock was `by` ms behind. Gives by how much times known so far are to be moved: an open trip that began at
 * `begin` is not moved into the one before.
 */
export function corrected(line: Timeline, by: number, begin: number | null): number {
  if (line.last === null) return 0;
  if (by < -DAY) line.floor = null;
  const room = line.floor === null || begin === null ? Number.NEGATIVE_INFINITY : Math.min(0, line.floor - begin);
  const shift = Math.max(by, room);
  line.last += shift;
  line.lead += shift - by;
  return shift;
}
