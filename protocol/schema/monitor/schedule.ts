/** When a time trigger holds: interface 3.19.2 TimeTrigger, TimeTriggerEntry. docs/monitors.md, "Zones and times". */

import { DAY, instantOf, isTimeZone } from '../../calendar.ts';
import { defined } from '../../defined.ts';
import { type Member, malformed, unknown } from './input.ts';

export const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
export const recurrences = ['None', 'Daily'] as const;
export const DEFAULT_ZONE = 'Europe/Paris';

/** Maximum number of entries of one trigger: the interface has no bound, but a car needs one. */
const ENTRIES = 64;
const LONGEST = 31;

/** One entry in its canonical spelling. */
interface TimeEntry {
  readonly recurrence: (typeof recurrences)[number];
  readonly start: string;
  readonly duration?: string;
  readonly occurence?: { readonly day?: (typeof weekdays)[number][]; readonly week?: string[] };
}

/** An entry, prepared for evaluation. */
export type Interval =
  | { readonly kind: 'once'; readonly from: number; readonly until: number }
  | {
      readonly kind: 'daily';
      /** Time of day, seconds since midnight. */
      readonly start: number;
      /** Length: calendar days, then elapsed ms. */
      readonly days: number;
      readonly time: number;
      /** One flag per day of the week, Monday first. */
      readonly weekdays: readonly boolean[];
      /** Weeks of the year, 1 to 53; undefined: every week. */
      readonly weeks: ReadonlySet<number> | undefined;
    };

export interface TriggerSchedule {
  readonly zone: string;
  readonly intervals: readonly Interval[];
}

/** Reads `time`. @throws VigieError `input.malformed`, `input.unknown` for a time zone that does not exist. */
export function readTimes(time: Member): { times: TimeEntry[]; timeZone: string; schedule: TriggerSchedule } {
  const given = time.member('timeZone', 'timezone');
  const zone = given.absent ? DEFAULT_ZONE : given.text(64);
  // An offset such as +02:00 is not a zone of the IANA database, although JavaScript engines accept it.
  if (!/^[A-Za-z]/.test(zone)) throw malformed(given.where, `must be a name of the IANA data base, is ${zone}`);
  if (!isTimeZone(zone)) {
    throw unknown(given.where, `no time zone of the IANA data base is named ${JSON.stringify(zone)}`);
  }
  const entries = time.member('times').list(1, ENTRIES).map(readEntry);
  return {
    times: entries.map(({ entry }) => entry),
    timeZone: zone,
    schedule: { zone, intervals: entries.map(({ interval }) => interval) },
  };
}

function readEntry(member: Member): { entry: TimeEntry; interval: Interval } {
  const given = member.member('recurrence');
  const recurrence = given.absent ? 'Daily' : given.oneOf(recurrences);
  return recurrence === 'None' ? readOnce(member) : readDaily(member);
}

function readOnce(member: Member): { entry: TimeEntry; interval: Interval } {
  const start = member.member('start');
  const text = start.text(64);
  const from = instantOf(text);
  if (from === undefined) {
    throw malformed(start.where, `with recurrence None must be a date-time of RFC 3339 with its offset, is ${text}`);
  }
  const occurence = member.member('occurence', 'occurrence');
  if (!occurence.absent) throw malformed(occurence.where, 'is allowed with recurrence Daily only');
  const given = member.member('duration');
  if (given.absent) {
    return { entry: { recurrence: 'None', start: text }, interval: { kind: 'once', from, until: Infinity } };
  }
  const { days, time } = readDuration(given);
  const duration = given.text(64);
  return {
    entry: { recurrence: 'None', start: text, duration },
    interval: { kind: 'once', from, until: from + days * DAY + time },
  };
}

function readDaily(member: Member): { entry: TimeEntry; interval: Interval } {
  const start = readTimeOfDay(member.member('start'));
  const given = member.member('duration');
  if (given.absent) throw malformed(given.where, 'is missing: recurrence Daily must have a duration');
  const { days, time } = readDuration(given);
  const occurence = member.member('occurence', 'occurrence');
  const day = occurence.absent ? undefined : readDays(occurence.member('day'));
  const week = occurence.absent ? undefined : readWeeks(occurence.member('week'));
  return {
    entry: {
      recurrence: 'Daily',
      start: `PT${Math.floor(start / 3600)}H${Math.floor((start % 3600) / 60)}M${start % 60 === 0 ? '' : `${start % 60}S`}`,
      duration: given.text(64),
      ...(day === undefined && week === undefined
        ? {}
        : {
            occurence: { ...defined({ day }), ...(week === undefined ? {} : { week: week.texts }) },
          }),
    },
    interval: {
      kind: 'daily',
      start,
      days,
      time,
      weekdays: weekdays.map((name) => day === undefined || day.includes(name)),
      weeks: week?.weeks,
    },
  };
}

/** Returns the seconds since midnight of an ISO 8601 duration such as PT14H30M; also accepts `14H30`. */
function readTimeOfDay(member: Member): number {
  const text = member.text(64);
  const found =
    /^(?:PT)?(\d{1,2})H(?:(\d{1,2})M?)?(?:(\d{1,2})S)?$/.exec(text) ??
    /^PT(?=\d)(\d{0})(?:(\d{1,2})M)?(?:(\d{1,2})S)?$/.exec(text);
  const [, hours = 'none', minutes = '0', seconds = '0'] = found ?? [];
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  if (hour <= 23 && minute <= 59 && second <= 59) return hour * 3600 + minute * 60 + second;
  throw malformed(
    member.where,
    `with recurrence Daily must be a duration since midnight, PT0H to PT23H59M59S, is ${text}`,
  );
}

/** ISO 8601-1:2019 §5.5.2 without years and months, whose length varies. */
function readDuration(member: Member): { days: number; time: number } {
  const text = member.text(64);
  const found =
    /^P(?=[0-9T])(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?=\d)(?:(\d{1,5})H)?(?:(\d{1,7})M)?(?:(\d{1,8})S)?)?$/.exec(text);
  if (found === null) {
    throw malformed(member.where, `must be an ISO 8601 duration of weeks, days, hours, minutes, seconds, is ${text}`);
  }
  const [weeks, days, hours, minutes, seconds] = found.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const whole = weeks * 7 + days;
  const time = ((hours * 60 + minutes) * 60 + seconds) * 1000;
  if (whole * DAY + time <= 0) throw malformed(member.where, 'must be longer than nothing');
  if (whole * DAY + time > LONGEST * DAY) throw malformed(member.where, `must be at most ${LONGEST} days`);
  return { days: whole, time };
}

function readDays(member: Member): (typeof weekdays)[number][] | undefined {
  if (member.absent) return undefined;
  const days = member.list(1, 7).map((day) => day.oneOf(weekdays));
  return weekdays.filter((name) => days.includes(name));
}

/** Accepts weeks 6 to 9 too: their omission from the published pattern is assumed to be a mistake. */
function readWeeks(member: Member): { texts: string[]; weeks: Set<number> } | undefined {
  if (member.absent) return undefined;
  const weeks = new Set<number>();
  const texts = member.list(1, 52).map((entry) => {
    const text = entry.text(16);
    const [, first, last = first] = /^[wW](\d{1,2})(?:-[wW](\d{1,2}))?$/.exec(text) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (!(from >= 1 && from <= 53 && to >= 1 && to <= 53)) {
      throw malformed(entry.where, `must be a week such as w1 or weeks such as w40-w50, w1 to w53, is ${text}`);
    }
    for (let week = from; ; week = week === 53 ? 1 : week + 1) {
      weeks.add(week);
      if (week === to) return text.toLowerCase();
    }
  });
  return { texts, weeks };
}
