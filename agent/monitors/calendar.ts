/** Times of day in a zone of the IANA database, and the intervals of time triggers in absolute time. */
import { DAY, weekdayOf, weekOf } from '../../protocol/calendar.ts';
import type { Interval, TriggerSchedule } from '../../protocol/schema/monitor/schedule.ts';

/** Quarter of an hour in ms. The offset of a zone changes only at quarter hours of UTC. */
const QUARTER = 900_000;
/** Number of offsets remembered per zone. */
const REMEMBERED = 4_096;
/** Delay in ms of the next evaluation if no boundary is known. */
const LOOK_AGAIN = DAY;

/** The clocks of one zone. */
class Zone {
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  /** `name` was validated when the monitor was added. */
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

  /** Returns the offset in ms of local time from UTC at a UTC time. */
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

  /** Returns the local day of a UTC time, counted from 1970-01-01. */
  day(at: number): number {
    return Math.floor((at + this.offset(at)) / DAY);
  }

  /**
   * Returns the UTC time of a local time, in ms since 1970-01-01T00:00 as if it were UTC. If a local time occurs twice,
   * the first is returned; a skipped local time has the previous offset. RFC 5545 §3.3.5.
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

/** Returns the zone of a name: all triggers of a zone share the cached offsets. */
export function zoneOf(name: string): Zone {
  // Zone names are case-insensitive: otherwise different spellings would fill the memory.
  const key = name.toLowerCase();
  const known = zones.get(key) ?? new Zone(name);
  zones.set(key, known);
  return known;
}

interface Look {
  readonly inside: boolean;
  /** Time of the next evaluation, UTC ms: nothing changes before. */
  readonly next: number;
}

/** Returns whether `now` is inside an interval, and the earliest time at which that can change. */
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

/** Returns the intervals that can contain `now`, and those that start up to a day later. */
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
