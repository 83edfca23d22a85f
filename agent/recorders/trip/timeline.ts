/**
 * Trip time: the time of the readings, except that it never runs back. All times of a trip use trip time until its end:
 * if the clock steps back during a trip, `lead` is how far trip time is ahead of the clock from then on. While the
 * car is parked, trip time waits at the end of the last trip until the clock has caught up.
 */
import { DAY } from '../../../protocol/calendar.ts';

export interface Timeline {
  /** Trip time of the last event; null before the first. */
  last: number | null;
  lead: number;
  /** End of the last trip; no trip starts earlier. */
  floor: number | null;
}

/** Longest delay in ms between readings of several sources that arrive out of order. */
const DISORDER = 10_000;

/**
 * Applies the time of an event, UTC milliseconds. `held`: a trip is open or about to open. Returns `shift`, by which
 * all known times must be shifted before the event is applied (0 or negative), and `at`, the trip time of the event.
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
      // A clock that steps back by more than a day was wrong before: correct the known times.
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
 * Returns by how many ms known times must be shifted if the clock was `by` ms behind: an open trip that started at
 * `begin` is not shifted into the previous one.
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
