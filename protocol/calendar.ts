/** UTC calendar: dates, days since 1970-01-01, weeks, and date-time strings; names of time zones. */

/** Length of a day in ms. */
export const DAY = 86_400_000;
/** 2020-01-01, UTC ms: a clock that shows an earlier time was never set, so its times cannot be corrected. */
export const EARLIEST_TIME: number = Date.UTC(2020, 0, 1);

/** Returns the start of a date, UTC ms, or undefined for a date that does not exist. Months are 1 to 12. */
export function midnight(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  // Date.UTC maps the years 0 to 99 to 1900 to 1999.
  const at = date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? at : undefined;
}

/**
 * Returns the time `months` months after `at`, UTC ms. If that month lacks the day of `at`, returns its last day: a
 * month after 31 January is the end of February.
 */
export function monthsAfter(at: number, months: number): number {
  const date = new Date(at);
  const end = new Date(0);
  // The last day of the month, as day 0 of the next.
  const last = end.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + months + 1, 0);
  const missing = Math.max(0, end.getUTCDate() - date.getUTCDate());
  return last - missing * DAY + (at - Math.floor(at / DAY) * DAY);
}

/** Returns true if the IANA database of this machine has a time zone of this name. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Returns the day of the week, 0 for Monday. 1970-01-01 was a Thursday. */
export function weekdayOf(days: number): number {
  return (((days + 3) % 7) + 7) % 7;
}

/** Returns the week of the year, 1 to 53: a week belongs to the year of its Thursday. ISO 8601-1:2019 §3.1.1.23. */
export function weekOf(days: number): number {
  const thursday = days - weekdayOf(days) + 3;
  const first = midnight(new Date(thursday * DAY).getUTCFullYear(), 1, 1) as number;
  return Math.floor((thursday - first / DAY) / 7) + 1;
}

/** Returns the UTC ms of an RFC 3339 date-time; undefined if it is invalid. A leap second counts as the next second. */
export function instantOf(text: string): number | undefined {
  const found = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/.exec(
    text,
  );
  if (found === null) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [, , , , , , , fraction = '', sign = '+', offsetHour = '0', offsetMinute = '0'] = found;
  const date = midnight(year, month, day);
  if (date === undefined) return undefined;
  if (hour > 23 || minute > 59 || second > 60 || Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -60_000 : 60_000);
  const time = ((hour * 60 + minute) * 60 + second) * 1000 + Math.round(Number(`0${fraction}`) * 1000);
  return date + time - offset;
}
