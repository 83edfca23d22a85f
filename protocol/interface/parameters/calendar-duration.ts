/** Durations as people write them in periods: years and months count by the calendar (ISO 8601-1:2019 §5.5.2). */
import { type CivilDate, DAY, daysOf } from '../../schema/monitor/civil.ts';

/** A duration: whole months by the calendar of UTC, then milliseconds. */
export interface CalendarDuration {
  readonly months: number;
  readonly milliseconds: number;
}

const HOUR = 3_600_000;

/** Digits are bounded so that no sum leaves what a number holds exactly; only the last part may have a fraction. */
const form =
  /^P(?=[\dT])(?:(\d{1,4})Y)?(?:(\d{1,5})M)?(?:(\d{1,6})W)?(?:(\d{1,7}(?:\.\d{1,9})?)D)?(?:T(?=\d)(?:(\d{1,8}(?:\.\d{1,9})?)H)?(?:(\d{1,10}(?:\.\d{1,9})?)M)?(?:(\d{1,12}(?:\.\d{1,9})?)S)?)?$/;

/** The duration that a text says, e.g. `P1M`, `PT36H`, `P1DT0.5S`; undefined when it says none. */
export function calendarDuration(text: string): CalendarDuration | undefined {
  const found = form.exec(text);
  if (found === null || /\.\d+[A-Z]./.test(text)) return undefined;
  const [years, months, weeks, days, hours, minutes, seconds] = found.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return {
    months: years * 12 + months,
    milliseconds: Math.round((weeks * 7 + days) * DAY + hours * HOUR + minutes * 60_000 + seconds * 1000),
  };
}

/**
 * The moment `times` durations after `at` (UTC ms). A day that its month lacks is the last of that month: a month
 * after 31 January is the end of February.
 */
export function after(at: number, { months, milliseconds }: CalendarDuration, times = 1): number {
  if (months === 0) return at + milliseconds * times;
  const days = Math.floor(at / DAY);
  const date = dateOf(days);
  const total = date.year * 12 + (date.month - 1) + months * times;
  const year = Math.floor(total / 12);
  const month = total - year * 12 + 1;
  const first = daysOf({ year, month, day: 1 });
  const next = daysOf(month === 12 ? { year: year + 1, month: 1, day: 1 } : { year, month: month + 1, day: 1 });
  const day = Math.min(first + date.day - 1, next - 1);
  return day * DAY + (at - days * DAY) + milliseconds * times;
}

/** The date of a day counted from 1970-01-01, in years that begin in March, so that the leap day is their last. */
export function dateOf(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  };
}
