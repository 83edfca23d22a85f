/** Intervals of time triggers, computed hour by hour from the UTC offsets of the zone. */
import type { MonitorTrigger } from '../../../protocol/schema/monitor/parameter.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const offsets = new Map<string, number>();
const formats = new Map<string, Intl.DateTimeFormat>();

/** UTC offset of a zone, ms, parsed from its offset name: GMT+05:45. */
function offsetOf(zone: string, at: number): number {
  const quarter = Math.floor(at / 900_000);
  const key = `${zone} ${quarter}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  formats.set(zone, format);
  const name = format.formatToParts(quarter * 900_000).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT(?:([+-])(\d+):(\d+))?/.exec(name) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  offsets.set(key, offset);
  return offset;
}

const moments = new Map<string, number>();

/**
 * First time at which clocks show the local time. If there is none, the local time with the offset before the change.
 */
export function momentOf(zone: string, local: number): number {
  const key = `${zone} ${local}`;
  const known = moments.get(key);
  if (known !== undefined) return known;
  let found = Number.POSITIVE_INFINITY;
  for (let offset = -16 * HOUR; offset <= 16 * HOUR; offset += 900_000) {
    if (offsetOf(zone, local - offset) === offset) found = Math.min(found, local - offset);
  }
  const moment = found < Number.POSITIVE_INFINITY ? found : local - offsetOf(zone, local - 36 * HOUR);
  moments.set(key, moment);
  return moment;
}

function lengthOf(duration: string): { days: number; time: number } {
  const [, weeks = '0', days = '0', hours = '0', minutes = '0', seconds = '0'] =
    /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(duration) ?? [];
  return {
    days: Number(weeks) * 7 + Number(days),
    time: Number(hours) * HOUR + Number(minutes) * 60_000 + Number(seconds) * 1000,
  };
}

const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** Week number of ISO 8601: week 1 contains 4 January. */
function weekOf(day: number): number {
  const monday = (days: number): number => days - ((new Date(days * DAY).getUTCDay() + 6) % 7);
  const yearOfThursday = new Date((monday(day) + 3) * DAY).getUTCFullYear();
  return (monday(day) - monday(Date.UTC(yearOfThursday, 0, 4) / DAY)) / 7 + 1;
}

function inWeeks(week: number, ranges: readonly string[]): boolean {
  return ranges.some((range) => {
    const [from = 0, to = from] = range.split('-').map((name) => Number(name.slice(1)));
    return from <= to ? week >= from && week <= to : week >= from || week <= to;
  });
}

export function inInterval({ times, timeZone }: NonNullable<MonitorTrigger['time']>, now: number): boolean {
  return times.some(({ recurrence, start, duration, occurence }) => {
    const length = duration === undefined ? { days: Number.POSITIVE_INFINITY, time: 0 } : lengthOf(duration);
    if (recurrence === 'None') {
      const from = Date.parse(start);
      return now >= from && now < from + length.days * DAY + length.time;
    }
    const [, hours = '0', minutes = '0', seconds = '0'] = /^PT(\d+)H(\d+)M(?:(\d+)S)?$/.exec(start) ?? [];
    const timeOfDay = Number(hours) * HOUR + Number(minutes) * 60_000 + Number(seconds) * 1000;
    const today = Math.floor(now / DAY);
    for (let day = today - 36; day <= today + 2; day++) {
      const name = names[new Date(day * DAY).getUTCDay()] as (typeof names)[number];
      if (occurence?.day !== undefined && !occurence.day.includes(name)) continue;
      if (occurence?.week !== undefined && !inWeeks(weekOf(day), occurence.week)) continue;
      const local = day * DAY + timeOfDay;
      const until = momentOf(timeZone, local + length.days * DAY) + length.time;
      if (momentOf(timeZone, local) <= now && now < until) return true;
    }
    return false;
  });
}
