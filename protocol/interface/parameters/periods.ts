/** Parameter `timestamps`: the requested periods. Interface 3.19.2 and 4.17.2 `timestamps`. */
import { DAY, instantOf } from '../../calendar.ts';
import { malformed } from '../../schema/monitor/input.ts';
import { after, type CalendarDuration, calendarDuration } from './calendar-duration.ts';

/** Times with `from` ≤ at < `to`, UTC ms; an absent bound means unbounded. */
export interface Period {
  readonly from?: number;
  readonly to?: number;
}

/** Maximum number of periods in one repetition. */
const REPETITIONS = 10_000;

const forms = 'T1/T2, T1/duration, T/, /T, Rn/T/duration[/every] or R/T/duration[/every]';

/**
 * Returns the union of the periods in several strings, ascending and disjoint; an empty list requests nothing.
 * Both ends of a period belong to it. Repetitions end at `now` (UTC ms).
 * @throws VigieError `input.malformed` naming the parameter and the rule
 */
export function readPeriods(texts: readonly string[], now: number): readonly Period[] {
  return joined(texts.flatMap((text) => readPeriod(text, now)));
}

/** Returns true if one of the periods, which are ascending and disjoint, contains the time. */
export function covers(periods: readonly Period[], at: number): boolean {
  let low = 0;
  let high = periods.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((periods[middle]?.from ?? Number.NEGATIVE_INFINITY) <= at) low = middle + 1;
    else high = middle;
  }
  // The last period that does not start later.
  const period = periods[low - 1];
  return period !== undefined && at < (period.to ?? Number.POSITIVE_INFINITY);
}

function readPeriod(text: string, now: number): Period[] {
  const parts = text.split('/');
  const [first = '', second = '', third = '', every] = parts;
  if (/^R\d{0,9}$/.test(first) && (parts.length === 3 || parts.length === 4)) {
    return repeated(text, first, moment(text, second), lasting(text, third), every, now);
  }
  if (parts.length !== 2 || text === '/') throw fault(text, `must be one of ${forms}`);
  if (first === '') return [{ to: moment(text, second) + 1 }];
  const from = moment(text, first);
  if (second === '') return [{ from }];
  if (second.startsWith('P')) return [{ from, to: after(from, lasting(text, second)) + 1 }];
  const to = moment(text, second);
  if (to < from) throw fault(text, 'must not end before it begins');
  return [{ from, to: to + 1 }];
}

function repeated(
  text: string,
  first: string,
  start: number,
  duration: CalendarDuration,
  written: string | undefined,
  now: number,
): Period[] {
  const count = first === 'R' ? Number.POSITIVE_INFINITY : Number(first.slice(1));
  const every = written === undefined ? { months: 0, milliseconds: DAY } : lasting(text, written);
  if (count === 0) throw fault(text, 'must repeat at least once');
  if (after(start, every) <= start) throw fault(text, 'must repeat after some time');
  if (start > now) return [];
  if (every.months === 0 && duration.months === 0 && every.milliseconds <= duration.milliseconds) {
    // Each period starts before the previous one ends, so all of them form a single period.
    const last = Math.min(count - 1, Math.floor((now - start) / every.milliseconds));
    return [{ from: start, to: after(start, every, last) + duration.milliseconds + 1 }];
  }
  const periods: Period[] = [];
  for (let index = 0; index < count; index++) {
    const from = after(start, every, index);
    if (from > now) break;
    if (index === REPETITIONS) throw fault(text, `must not have more than ${REPETITIONS} periods until now`);
    periods.push({ from, to: after(from, duration) + 1 });
  }
  return periods;
}

/** Parses a date-time. The unencoded `+` of an offset arrives as a space. */
function moment(text: string, written: string): number {
  const at = instantOf(written.replace(/ (\d\d:\d\d)$/, '+$1'));
  if (at === undefined) {
    throw fault(text, `must have date-times of RFC 3339 such as 2026-01-31T08:00:00Z in one of ${forms}`);
  }
  return at;
}

function lasting(text: string, written: string): CalendarDuration {
  const duration = calendarDuration(written);
  if (duration === undefined) throw fault(text, 'must have ISO 8601 durations such as PT1H or P1D');
  return duration;
}

function fault(text: string, rule: string): Error {
  return malformed('timestamps', `${rule}; is ${JSON.stringify(text.slice(0, 160))}`);
}

function joined(periods: readonly Period[]): readonly Period[] {
  const begin = ({ from }: Period): number => from ?? Number.NEGATIVE_INFINITY;
  const result: { from?: number; to?: number }[] = [];
  for (const period of periods.toSorted((a, b) => (begin(a) < begin(b) ? -1 : begin(a) > begin(b) ? 1 : 0))) {
    const last = result.at(-1);
    if (last === undefined || (last.to !== undefined && last.to < begin(period))) result.push({ ...period });
    else if (last.to !== undefined) {
      if (period.to === undefined) delete last.to;
      else last.to = Math.max(last.to, period.to);
    }
  }
  return result;
}
