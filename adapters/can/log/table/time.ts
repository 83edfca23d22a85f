/** Times in a column of a table: numbers in a unit, clock times, dates. */
import { DAY } from '../../../../protocol/calendar.ts';
import { localDate, utc } from '../dates.ts';
import type { Fields } from '../fields.ts';
import { type TimeColumn, unitOf } from './layout.ts';

/** Unit in ms of the hexadecimal times of USB-CAN tools. */
const HEXADECIMAL_TICK_MS = 0.1;

export class TimeReader {
  private readonly time: TimeColumn | undefined;
  private unit: number | undefined;
  /** Offset in ms for each midnight that clock times have passed; and the last clock time. */
  private day = 0;
  private before = 0;
  private elapsed = 0;
  /** True if a plain number had a fraction; and the number of digits of the longest integer part. */
  private fraction = false;
  private digits = 0;

  /** @param time if undefined, every frame has the time 0 */
  constructor(time: TimeColumn | undefined) {
    this.time = time;
    this.unit = time === undefined || time.unit === 'auto' ? undefined : time.unit;
  }

  /** Unit of the plain numbers so far in ms. */
  get unitOfNumbers(): number {
    if (this.unit !== undefined) return this.unit;
    return (this.fraction ? undefined : this.time?.whole) ?? unitOf(this.fraction, this.digits);
  }

  /**
   * Returns the time in ms in the file, or NaN for a cell without a time.
   * @param extra number of cells of this line beyond its columns, after the column `wide`
   */
  at(fields: Fields, extra: number, wide: number): number {
    const { time } = this;
    if (time === undefined) return 0;
    const cell = time.column > wide ? time.column + extra : time.column;
    const number = fields.scaled(cell, this.unit ?? 1);
    if (Number.isNaN(number)) return this.clock(fields, time, cell, extra, wide);
    if (this.unit === undefined) this.observe(fields, cell);
    const at = this.unit === undefined ? fields.scaled(cell, this.unitOfNumbers) : number;
    if (time.delta !== true) return at;
    this.elapsed += at;
    return this.elapsed;
  }

  private observe(fields: Fields, cell: number): void {
    let digits = 0;
    const size = fields.size(cell);
    for (let i = 0; i < size; i++) {
      const code = fields.code(cell, i);
      if (code === 46 || code === 44) {
        this.fraction = true;
        break;
      }
      if (code >= 48) digits++;
    }
    if (digits > this.digits) this.digits = digits;
  }

  private clock(fields: Fields, time: TimeColumn, cell: number, extra: number, wide: number): number {
    const place = (column: number): number => (column > wide ? column + extra : column);
    const text = fields.text(cell);
    const millisecond = time.millisecond === undefined ? 0 : fields.scaled(place(time.millisecond), 1);
    if (time.date !== undefined) {
      const at = dateAt(`${fields.text(place(time.date))} ${text}`);
      return at + millisecond;
    }
    if (/^0x[\da-f]{1,12}$/i.test(text)) return Number(text) * HEXADECIMAL_TICK_MS;
    const clock = clockAt(text);
    if (Number.isNaN(clock)) return dateAt(text) + millisecond;
    // A step back of half a day means that midnight has passed; a smaller one is a frame out of order.
    if (clock < this.before - DAY / 2 && this.before < DAY) this.day += DAY;
    this.before = clock;
    return this.day + clock + millisecond;
  }
}

/**
 * Parses `18:07:38.123`, `18:07:38:123` (milliseconds), `8:09:42:48.795` (days first), `02:03.5` (minutes) and
 * `1:02:03.5 PM`. Returns NaN for other text.
 */
function clockAt(text: string): number {
  const clock = /^(?:(\d{1,4}):)??(?:(\d{1,2}):)?(\d{1,2}):(\d{1,2})(?:([.,:'])(\d{1,9})'?)?\s*([ap]\.?m\.?)?$/i.exec(
    text,
  );
  if (clock === null) return Number.NaN;
  const [, days = '0', hours = '0', minutes, seconds, mark, fraction = '', noon = ''] = clock;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return Number.NaN;
  const turned = noon === '' ? Number(hours) : (Number(hours) % 12) + (/^p/i.test(noon) ? 12 : 0);
  const whole = ((Number(days) * 24 + turned) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1000 + (mark === ':' ? partsOf(fraction) : millisecondsOf(fraction));
}

/** Parses `2024-05-01T12:34:56.789Z`, `01.05.2024 12:34:56`, `20170101T022232123`. Returns NaN for other text. */
function dateAt(text: string): number {
  const compact = /^(?:(\d{4})(\d\d))?(\d\d)?T(\d\d)(\d\d)(\d\d)(\d{0,6})$/.exec(text);
  if (compact !== null) {
    const [, year = '1970', month = '01', day = '01', hour, minute, second, fraction = ''] = compact;
    const whole = utc(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
    return whole + millisecondsOf(fraction);
  }
  const zone = /(?:Z|([+-])(\d\d):?(\d\d))$/.exec(text);
  const offset = zone?.[1] === undefined ? 0 : (Number(zone[2]) * 60 + Number(zone[3])) * (zone[1] === '-' ? -1 : 1);
  const plain = text.slice(0, zone?.index ?? text.length).replace(/(\d)[T_](\d)/, '$1 $2');
  return localDate(plain) - offset * 60_000;
}

/** Returns the value of digits after a colon: ms (`18:07:38:5`), or with more than three digits a fraction. */
function partsOf(digits: string): number {
  return digits.length <= 3 ? Number(digits) : millisecondsOf(digits);
}

function millisecondsOf(fraction: string): number {
  return fraction === '' ? 0 : (Number(fraction) * 1000) / 10 ** fraction.length;
}
