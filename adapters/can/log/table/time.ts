/** Times in a column of a table: numbers in a unit, clock times, dates. */
import { localDate, utc } from '../dates.ts';
import type { Fields } from '../fields.ts';
import { type TimeColumn, unitOf } from './layout.ts';

export class TimeReader {
  private readonly column: number;
  private unit: number | undefined;

  /** Without a column every frame is at 0. */
  constructor(time: TimeColumn | undefined) {
    this.column = time?.column ?? -1;
    this.unit = time === undefined || time.unit === 'auto' ? undefined : time.unit;
  }

  /** Milliseconds, as the file has them; NaN for a cell without a time. */
  at(fields: Fields): number {
    const { column } = this;
    if (column < 0) return 0;
    const number = fields.scaled(column, this.unit ?? 1);
    if (Number.isNaN(number)) return clockOrDate(fields.text(column));
    if (this.unit !== undefined) return number;
    this.unit = unitOf(fields.text(column));
    return fields.scaled(column, this.unit);
  }
}

/** `-1.5`, `18:07:38.123`, `8:09:42:48.795` (days first), `2024-05-01T12:34:56.789Z`, `20170101T022232123`. */
function clockOrDate(text: string): number {
  if (text.startsWith('-')) return Number.NaN;
  const compact = /^(?:(\d{4})(\d\d))?(\d\d)?T(\d\d)(\d\d)(\d\d)(\d{0,6})$/.exec(text);
  if (compact !== null) {
    const [, year = '1970', month = '01', day = '01', hour, minute, second, fraction = ''] = compact;
    const whole = utc(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
    return whole + millisecondsOf(fraction);
  }
  const clock = /^(?:(\d{1,4}):)?(\d{1,2}):(\d{2}):(\d{2})(?:[.,:](\d{1,9})'?)?$/.exec(text);
  if (clock !== null) {
    const [, days = '0', hours, minutes, seconds, fraction = ''] = clock;
    const whole = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
    return whole * 1000 + millisecondsOf(fraction);
  }
  const zone = /(?:Z|([+-])(\d\d):?(\d\d))$/.exec(text);
  const offset = zone?.[1] === undefined ? 0 : (Number(zone[2]) * 60 + Number(zone[3])) * (zone[1] === '-' ? -1 : 1);
  const plain = text.slice(0, zone?.index ?? text.length).replace(/(\d)[T_](\d)/, '$1 $2');
  return localDate(plain) - offset * 60_000;
}

function millisecondsOf(fraction: string): number {
  return fraction === '' ? 0 : (Number(fraction) * 1000) / 10 ** fraction.length;
}
