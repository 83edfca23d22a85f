/**
 * Dates in the headers of logs. They are local times in an unknown zone. All are read as UTC, so that a log
 * has the same times on every computer.
 */

import { DAY, midnight } from '../../../protocol/calendar.ts';

/** Returns the UTC milliseconds of a calendar date, or NaN for a date that does not exist. */
export function utc(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
  const at = midnight(year, month, day);
  if (at === undefined || !(hour < 24 && minute < 60 && second < 60) || year < 1970) return Number.NaN;
  return at + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** Returns the ms of an OLE automation date (days since 1899-12-30), rounded to its resolution of a microsecond. */
export function oleDate(days: number): number {
  return Math.round((days - 25_569) * DAY * 1000) / 1000;
}

/** Start of month names without accents: English, German, French, Italian, Spanish, Portuguese. */
const months: readonly RegExp[] = [
  /^(jan|gen|ene)/,
  /^(feb|fev)/,
  /^(mar|mrz)/,
  /^(apr|avr|abr)/,
  /^(may|mai|mag)/,
  /^(jun|juin|giu)/,
  /^(jul|juil|lug)/,
  /^(aug|aou|ago)/,
  /^(sep|set)/,
  /^(oct|okt|ott|out)/,
  /^(nov)/,
  /^(dec|dez|dic)/,
];

/** Returns the month 1..12 of a name or its abbreviation, or 0 for other text. */
function monthOf(word: string): number {
  const east = /^(\d{1,2})[月월]$/.exec(word)?.[1];
  if (east !== undefined) return Number(east);
  // An accent in another encoding is read as U+FFFD or as two characters. The letters around it suffice.
  const plain = word
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/^m[^a-z]+r/, 'mar')
    .replace(/^f[^a-z]+v/, 'fev')
    .replace(/^d[^a-z]+c/, 'dec')
    .replace(/^ao[^a-z]+/, 'aou');
  return months.findIndex((beginning) => beginning.test(plain)) + 1;
}

/**
 * Returns the UTC milliseconds of a date that Vector and PEAK tools write in the language of the computer, e.g.
 * `Sam Sep 30 15:06:13.191 2017`, `Thu Apr 28 10:44:52.480 am 2022`, `30.09.2017 22:06:13.191.000`; NaN for
 * other text. The order of numeric dates is day.month.year, month/day/year, year-month-day.
 */
export function localDate(text: string): number {
  const time = /(\d{1,2}):(\d{2}):(\d{2})(?:[.,:](\d{1,3})(?:\.(\d{1,3}))?(\d*))?/.exec(text);
  if (time === null) return Number.NaN;
  const rest = text.replace(time[0], ' ');
  let hour = Number(time[1]);
  if (/(^|\s)(p\.?\s?m\.?|nachm\.?|下午|午後|오후)(\s|$)/i.test(rest) && hour < 12) hour += 12;
  else if (/(^|\s)(a\.?\s?m\.?|vorm\.?|上午|午前|오전)(\s|$)/i.test(rest) && hour === 12) hour = 0;
  const date = calendarDate(rest);
  if (date === undefined) return Number.NaN;
  const whole = utc(date[0], date[1], date[2], hour, Number(time[2]), Number(time[3]));
  const milli = Number((time[4] ?? '').padEnd(3, '0'));
  // Vector's tools write microseconds after a second point, other tools as further digits.
  const micro = time[5] === undefined ? Number(`0.${time[6] || '0'}`) * 1000 : Number(time[5].padEnd(3, '0'));
  return whole + milli + micro / 1000;
}

function calendarDate(text: string): readonly [number, number, number] | undefined {
  const german = /(?:^|\s)(\d{1,2})\.(\d{1,2})\.(\d{4})(?:\s|$)/.exec(text);
  if (german !== null) return [Number(german[3]), Number(german[2]), Number(german[1])];
  const american = /(?:^|\s)(\d{1,2})\/(\d{1,2})\/(\d{4})(?:\s|$)/.exec(text);
  if (american !== null) return [Number(american[3]), Number(american[1]), Number(american[2])];
  const iso = /(?:^|\s)(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:\s|$)/.exec(text);
  if (iso !== null) return [Number(iso[1]), Number(iso[2]), Number(iso[3])];
  const words = text.split(/\s+/).filter((word) => word !== '');
  const year = Number(words.find((word) => /^\d{4}$/.test(word)));
  const day = Number.parseInt(words.find((word) => /^\d{1,2}[.,]?$/.test(word)) ?? '', 10);
  // The weekday precedes the month, and in some languages starts like a month name (mar. = mardi).
  const names = words.map(monthOf).filter((month) => month > 0);
  const month = names.at(-1);
  return month === undefined || Number.isNaN(year) || Number.isNaN(day) ? undefined : [year, month, day];
}
