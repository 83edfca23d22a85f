/** Times of day in a zone of the IANA data base, and the intervals of time triggers on the line of time. */
import { DAY, weekdayOf, weekOf } from '../../protocol/calendar.ts';
import type { Interval, TriggerSchedule } from '../../protocol/schema/monitor/schedule.ts';

/** Clocks change on the quarter of an hour of UTC only. */
const QUARTER = 900_000;
/** Offsets remembered for each zone. */
const REMEMBERED = 4_096;
/** Interval between evaluations without a known boundary, ms. */
const LOOK_AGAIN = DAY;

/** The clocks of one zone. */
class Zone {
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  /** `name` was checked when the monitor was given. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Offset of local time from UTC at a UTC time, ms. */
  offset(at: number): number {
    const quarter = Math.floor(at / QUARTER);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const moment = quarter * QUARTER;
    const fields: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(moment)) fields[type] = Number(value);
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = fields;
    const offset = Date.UTC(year, month - 1, day, hour, minute, second) - moment;
    if (this.#offsets.size >= REMEMBERED) this.#offsets.clear();
    this.#offsets.set(quarter, offset);
    return offset;
  }

  /** Local day of a UTC time, counted from 1970-01-01. */
  day(at: number): number {
    return Math.floor((at + this.offset(at)) / DAY);
  }

  /**
   * UTC time of a local time, which is in ms since 1970-01-01T00:00 as if it were UTC. A local time that occurs twice
   * is the first; one that is skipped has the previous offset. RFC 5545 §3.3.5.
   */
  moment(local: number): number {
    const before = this.offset(local - DAY);
    const after = this.offset(local + DAY);
    const early = local - before;
    if (before === after || this.offset(early) === before) return early;
    const late = local - after;
    return this.offset(late) === after ? late : early;
  }
}

const zones = new Map<string, Zone>();

/** One for each name: all triggers of a zone share what is known of its clocks. */
export function zoneOf(name: string): Zone {
  // Names are the same in any capitals: as they are written there is no end of them.
  const key = name.toLowerCase();
  const known = zones.get(key) ?? new Zone(name);
  zones.set(key, known);
  return known;
}

interface Look {
  readonly inside: boolean;
  /** When it is to be looked again, UTC ms: nothing changes before. */
  readonly next: number;
}

/** Whether `now` is inside an interval, and the earliest time at which that can change. */
export function look({ zone: name, intervals }: TriggerSchedule, now: number): Look {
  const zone = zoneOf(name);
  let inside = false;
  let next = now + LOOK_AGAIN;
  const take = (from: number, until: number): void => {
    if (from <= now && now < until) inside = true;
    for (const boundary of [from, until]) if (boundary > now && boundary < next) next = boundary;
  };
  for (const interval of intervals) {
    if (interval.kind === 'once') take(interval.from, interval.until);
    else for (const [from, until] of around(interval, zone, now)) take(from, until);
  }
  return { inside, next };
}

/** Those intervals that can reach `now`, and those that begin until a day later. */
function* around(
  interval: Extract<Interval, { kind: 'daily' }>,
  zone: Zone,
  now: number,
): Generator<readonly [from: number, until: number]> {
  const today = zone.day(now);
  const longest = interval.days + Math.ceil(interval.time / DAY) + 1;
  for (let day = today - longest; day <= today + 2; day++) {
    if (interval.weekdays[weekdayOf(day)] !== true) continue;
    if (interval.weeks !== undefined && !interval.weeks.has(weekOf(day))) continue;
    const start = day * DAY + interval.start * 1000;
    yield [zone.moment(start), zone.moment(start + interval.days * DAY) + interval.time];
  }
}
