/** Durations in periods: years and months follow the calendar (ISO 8601-1:2019 §5.5.2). */
import { DAY, monthsAfter } from '../../calendar.ts';

/** A duration: whole months of the UTC calendar, then milliseconds. */
export interface CalendarDuration {
  readonly months: number;
  readonly milliseconds: number;
}

const HOUR = 3_600_000;

/** Digits are bounded so that every sum is an exact number; only the last part may have a fraction. */
const form =
  /^P(?=[\dT])(?:(\d{1,4})Y)?(?:(\d{1,5})M)?(?:(\d{1,6})W)?(?:(\d{1,7}(?:\.\d{1,9})?)D)?(?:T(?=\d)(?:(\d{1,8}(?:\.\d{1,9})?)H)?(?:(\d{1,10}(?:\.\d{1,9})?)M)?(?:(\d{1,12}(?:\.\d{1,9})?)S)?)?$/;

/** Parses a duration such as `P1M`, `PT36H`, `P1DT0.5S`. Returns undefined for any other string. */
export function calendarDuration(text: string): CalendarDuration | undefined {
  const found = form.exec(text);
  if (found === null || /\.\d+[A-Z]./.test(text)) return undefined;
  const parts = found.slice(1).map((part) => Number(part ?? 0));
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts;
  return {
    months: years * 12 + months,
    milliseconds: Math.round((weeks * 7 + days) * DAY + hours * HOUR + minutes * 60_000 + seconds * 1000),
  };
}

/** Returns the time that is `times` durations after `at` (UTC ms). */
export function after(at: number, { months, milliseconds }: CalendarDuration, times = 1): number {
  return (months === 0 ? at : monthsAfter(at, months * times)) + milliseconds * times;
}
