/** Times of day in a zone of the IANA data base, and the intervals of time triggers on the line of time. */
import { DAY, weekdayOf, weekOf } from '../../protocol/calendar.ts';
import type { Interval, TriggerSchedule } from '../../protocol/schema/monitor/schedule.ts';

/** Clocks change on the quarter of an hour of UTC only. */
const QUARTER = 900_000;
/** Offsets remembered for each zone. */
const REMEMBERED = 4_096;
/** Without a boundary in sight it is looked again after this long, ms. */
const LOOK_AGAIN = DAY;

/** The clocks of one zone. */
export class Zone {
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

  /** Local time less UTC at a moment, ms. */
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

  /** The day on which a moment is, counted from 1970-01-01. */
  day(at: number): number {
    return Math.floor((at + this.offset(at)) / DAY);
  }

  /**
   * The moment at which clocks show the local time, ms since 1970-01-01T00:00 as if it were UTC. What they show twice is
   * the first; what they skip is counted with the offset from before. RFC 5545 §3.3.5.
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

export interface Look {
  readonly inside: boolean;
  /** When it is to be looked again, UTC ms: nothing changes before. */
  readonly next: number;
}

/** Whether a moment is in one of the intervals, and until when that holds at least. */
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
