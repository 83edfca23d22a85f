/** Times in a table of values: epoch in any unit, seconds since the start, dates with and without a zone. */
import { zoneOf } from '../../../../agent/monitors/calendar.ts';
import { DAY } from '../../../../protocol/calendar.ts';
import { localDate } from '../dates.ts';
import { unitNamed } from '../table/layout.ts';
import { cellValue } from './cells.ts';

/** Format of the times of a table, detected from its first lines. */
export interface TimeForm {
  readonly kind: 'epoch' | 'elapsed' | 'clock' | 'date';
  /** Milliseconds per unit, for `epoch` and `elapsed`. */
  readonly unit: number;
  /** True if `3/4/2026` means the third of April. */
  readonly dayFirst: boolean;
  /** True if every time contains its zone. */
  readonly zoned: boolean;
}

/** Start of the years 2001 and 2100. A number between them in some unit is a date in that unit. */
const EARLIEST = 978_307_200_000;
const LATEST = 4_102_444_800_000;

const EPOCH_UNITS = [1000, 1, 1e-3, 1e-6];

/**
 * Returns the format that most of the given times have, or undefined if they are not times.
 * @param unit name of the unit in the header
 */
export function timeFormOf(
  times: readonly string[],
  unit: string | undefined,
  decimalComma: boolean,
): { readonly form: TimeForm; readonly assumption?: string } | undefined {
  const filled = times.filter((time) => time !== '' && time !== '-');
  if (filled.length === 0) return undefined;
  const numbers = filled.map((time) => cellValue(time, decimalComma));
  const plain = { dayFirst: false, zoned: false };
  if (numbers.filter((number) => typeof number === 'number').length >= 0.8 * filled.length) {
    const values = numbers.filter((number) => typeof number === 'number');
    const named = unit === undefined ? undefined : unitNamed(unit);
    const epoch = [...(named === undefined ? [] : [named]), ...EPOCH_UNITS].find((one) =>
      values.every((value) => value * one >= EARLIEST && value * one <= LATEST),
    );
    if (epoch !== undefined) return { form: { kind: 'epoch', unit: epoch, ...plain } };
    if (named !== undefined) return { form: { kind: 'elapsed', unit: named, ...plain } };
    if (filled.some((time) => /[.,]\d/.test(time))) return { form: { kind: 'elapsed', unit: 1000, ...plain } };
    // Phones and loggers sample several times a second: larger steps between whole numbers are milliseconds.
    const steps = values.slice(1).map((value, i) => value - (values[i] as number));
    const middle = [...steps].sort((a, b) => a - b)[steps.length >> 1] ?? 0;
    const form = { kind: 'elapsed', unit: middle >= 5 ? 1 : 1000, ...plain } as const;
    return { form, assumption: `times without a unit were read as ${form.unit === 1 ? 'milliseconds' : 'seconds'}` };
  }
  const zoned = filled.every((time) => ZONE.test(time));
  if (filled.filter((time) => CLOCK.test(time)).length >= 0.8 * filled.length) {
    return { form: { kind: 'clock', unit: 1, dayFirst: false, zoned: false } };
  }
  const slashes = filled.flatMap((time) => SLASHED.exec(time)?.slice(1, 3).map(Number) ?? []);
  const dayFirst = slashes.some((part, i) => i % 2 === 0 && part > 12);
  const form = { kind: 'date', unit: 1, dayFirst, zoned } as const;
  if (filled.filter((time) => !Number.isNaN(dateOf(time, form))).length < 0.8 * filled.length) return undefined;
  const open = slashes.length > 0 && slashes.every((part) => part <= 12);
  return open ? { form, assumption: 'dates such as 3/4/2026 were read as month/day/year' } : { form };
}

const ZONE = /(?:Z|(?:GMT|UTC)(?:[+-]\d\d:?\d\d)?|[+-]\d\d:?\d\d)(?:\s+\d{4})?$/;
const OFFSET = /(?:GMT|UTC|Z)?(?:([+-])(\d\d):?(\d\d))?(?=\s+\d{4}$|$)/;
const CLOCK = /^\d{1,2}:\d{2}:\d{2}([.,:]\d+)?( ?[ap]m)?$/i;
const SLASHED = /^(\d{1,2})\/(\d{1,2})\/\d{4}\b/;

/** Returns the ms of a date as if its zone were UTC, or of the time in its named zone. NaN for invalid text. */
function dateOf(text: string, { dayFirst, zoned }: Pick<TimeForm, 'dayFirst' | 'zoned'>): number {
  let plain = text;
  let offset = 0;
  if (zoned) {
    const zone = OFFSET.exec(plain.replace(/^.*?(?=Z|GMT|UTC|[+-]\d\d:?\d\d(?:\s+\d{4})?$)/, ''));
    const [, sign, hours = '0', minutes = '0'] = zone ?? [];
    offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1) * 60_000;
    plain = plain.replace(/\s*(?:Z|(?:GMT|UTC)(?:[+-]\d\d:?\d\d)?|[+-]\d\d:?\d\d)(?=\s+\d{4}$|$)/, '');
  }
  plain = plain
    .replace(/^(\d{1,2})-(\p{L}+)-(\d{4})/u, '$1 $2 $3')
    .replace(/(\d)[T_](\d)/, '$1 $2')
    // Drop digits below a millisecond: the date parser accepts three digits.
    .replace(/(:\d{2}[.,]\d{3})\d+/, '$1');
  if (dayFirst) plain = plain.replace(/^(\d{1,2})\/(\d{1,2})\/(\d{4})/, '$2/$1/$3');
  // Without a time of day, use midnight; without seconds, use the start of the minute.
  if (!plain.includes(':')) plain = `${plain} 00:00:00`;
  plain = plain.replace(/(^|\s)(\d{1,2}:\d{2})(?=\s|$)/, '$1$2:00');
  const at = localDate(plain);
  return Number.isNaN(at) ? at : at - offset;
}

/** Returns the start of a table from a comment such as `# StartTime = 03/14/2026 08:02:43.6420 AM`, or undefined. */
export function startOf(comment: string): number | undefined {
  const text = /start ?time\s*[:=]\s*(.+)$/i.exec(comment)?.[1]?.trim().replace(/"$/, '');
  if (text === undefined) return undefined;
  const zoned = ZONE.test(text);
  const at = dateOf(text, { dayFirst: false, zoned });
  return Number.isNaN(at) ? undefined : at;
}

/** Reads the times of one table in order. */
export class ValueTimes {
  readonly #form: TimeForm;
  readonly #comma: boolean;
  readonly #start: number;
  readonly #zone: ReturnType<typeof zoneOf> | undefined;
  #days = 0;
  #last = Number.NEGATIVE_INFINITY;

  /**
   * @param start start in ms of elapsed times and times of day, as if in UTC
   * @param zone IANA name of the zone for times without a zone. If omitted, UTC.
   */
  constructor(form: TimeForm, { decimalComma, start, zone }: { decimalComma: boolean; start: number; zone?: string }) {
    this.#form = form;
    this.#comma = decimalComma;
    this.#zone = zone === undefined ? undefined : zoneOf(zone);
    this.#start = form.kind === 'clock' ? Math.floor(start / DAY) * DAY : start;
  }

  /** Returns UTC milliseconds, or NaN for a cell without a time or with an impossible date for a car. */
  at(text: string): number {
    const at = this.#read(text);
    return Math.abs(at) <= LATEST ? at : Number.NaN;
  }

  #read(text: string): number {
    const { kind, unit, zoned } = this.#form;
    if (kind === 'epoch' || kind === 'elapsed') {
      const number = cellValue(text, this.#comma);
      if (typeof number !== 'number') return Number.NaN;
      // Round to microseconds: the product of a count and a fraction is not exact.
      const at = Math.round(number * unit * 1000) / 1000;
      return kind === 'epoch' ? at : this.#utc(this.#start) + at;
    }
    if (kind === 'date') {
      const at = dateOf(text, this.#form);
      return zoned ? at : this.#utc(at);
    }
    const at = localDate(`1970-01-01 ${text.replace(/(\d[.,:]\d{3})\d+/, '$1')}`);
    if (Number.isNaN(at)) return at;
    // Midnight has passed.
    if (at + this.#days < this.#last - DAY / 2) this.#days += DAY;
    this.#last = at + this.#days;
    return this.#utc(this.#start + this.#last);
  }

  #utc(local: number): number {
    return this.#zone === undefined || Number.isNaN(local) ? local : this.#zone.moment(local);
  }
}
