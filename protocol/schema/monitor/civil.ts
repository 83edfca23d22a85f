/** The proleptic Gregorian calendar in whole days since 1970-01-01 (RFC 3339 appendix B, ISO 8601-1:2019 §4.2). */

export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

export const DAY = 86_400_000;

/** Days from 1970-01-01 to a date; years from March on, so that the leap day is the last of its year. */
export function daysOf({ year, month, day }: CivilDate): number {
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}

/** Day of the week, 0 for Monday. 1970-01-01 was a Thursday. */
export function weekdayOf(days: number): number {
  return (((days + 3) % 7) + 7) % 7;
}

/** Week of the year, 1 to 53: the week belongs to the year that has its Thursday. ISO 8601-1:2019 §3.1.1.23. */
export function weekOf(days: number): number {
  const thursday = days - weekdayOf(days) + 3;
  const first = daysOf({ year: yearOf(thursday), month: 1, day: 1 });
  return Math.floor((thursday - first) / 7) + 1;
}

function yearOf(days: number): number {
  let year = 1970 + Math.floor(days / 365.2425);
  while (daysOf({ year, month: 1, day: 1 }) > days) year--;
  while (daysOf({ year: year + 1, month: 1, day: 1 }) <= days) year++;
  return year;
}

/** UTC milliseconds of an RFC 3339 date-time; undefined when it is none. A leap second is the second after it. */
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
  if (month < 1 || month > 12 || day < 1 || day > monthLength(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 60 || Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -60_000 : 60_000);
  const time = ((hour * 60 + minute) * 60 + second) * 1000 + Math.round(Number(`0${fraction}`) * 1000);
  return daysOf({ year, month, day }) * DAY + time - offset;
}

function monthLength(year: number, month: number): number {
  const next = month === 12 ? { year: year + 1, month: 1, day: 1 } : { year, month: month + 1, day: 1 };
  return daysOf(next) - daysOf({ year, month, day: 1 });
}
