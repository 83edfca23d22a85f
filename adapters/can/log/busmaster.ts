/**
 * Logs of BUSMASTER:
 *
 *     ***BUSMASTER Ver 2.4.0***
 *     ***START DATE AND TIME 8:8:2014 11:49:7:965***
 *     ***HEX***
 *     ***SYSTEM MODE***
 *     11:49:12:9420 Rx 1 0x023 s 1 40
 *
 * Type s or x (extended), followed by r for remote. The last part of the time is in 100 µs if it has 4
 * digits, in 1 ms if it has 3. System mode: time of day on the header's date; absolute mode: time since that date;
 * relative mode: time since the previous line. Without a date, times count from 0. Channel n is `can(n-1)`.
 */

import { FD, REMOTE, SENT } from '../../../agent/ports.ts';
import { DAY } from '../../../protocol/calendar.ts';
import { utc } from './dates.ts';
import { Fields, integerOf, Words } from './fields.ts';
import { busError, identifier, type Recording } from './recording.ts';
import type { LineParser } from './text.ts';

export class BusmasterLines implements LineParser {
  private readonly recording: Recording;
  private readonly fields = new Fields();
  private readonly types = new Words(typeOf);
  private decimal = false;
  private mode: 'system' | 'absolute' | 'relative' = 'system';
  /** UTC ms of the header's date and time (`start`), and of the start of that day (`midnight`). */
  private start = 0;
  private midnight = 0;
  private before = 0;
  private elapsed = 0;

  constructor(recording: Recording) {
    this.recording = recording;
  }

  line(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { fields, recording } = this;
    fields.split(bytes, start, end);
    if (fields.count === 0) return undefined;
    const first = fields.code(0, 0);
    if (first === 42 || first === 45)
      return this.header(String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 256))));
    const time = timeOf(bytes, fields.start[0] as number, fields.end[0] as number);
    if (Number.isNaN(time)) return 'the time is not hours:minutes:seconds:fraction';
    const at = this.moment(time);
    const sent = fields.is(1, 'tx');
    if (!sent && !fields.is(1, 'rx')) return 'neither a received nor a sent frame';
    const number = fields.integer(2);
    const bus = number < 0 ? -1 : recording.channel(Math.max(0, number - 1));
    if (bus < 0) return number < 0 ? 'the channel is not a number' : 'more than 256 buses';
    if (fields.code(3, 0) === 69 && fields.code(3, 1) === 82) {
      recording.addEmpty(at, busError, bus, 0, 8);
      return undefined;
    }
    const type = this.types.meaning(fields, 4);
    if (type === null) return 'the type is not s, x, sr or xr';
    const prefix = (fields.code(3, 1) | 32) === 120 ? 2 : 0;
    const value = this.decimal && prefix === 0 ? fields.integer(3) : fields.hex(3, prefix);
    const id = identifier(value, type.extended);
    if (id < 0) return 'the identifier is not a number of at most 29 bits';
    const length = fields.integer(5);
    const fd = type.fd || length > 8;
    if (length < 0 || length > 64) return 'the length is not a number of at most 64';
    const flags = (sent ? SENT : 0) | (fd ? FD : 0);
    if (type.remote) {
      recording.addEmpty(at, (id | REMOTE) >>> 0, bus, flags, Math.min(8, length));
      return undefined;
    }
    const { payload } = recording;
    if (!(this.decimal ? fields.decimals(6, length, payload) : fields.octets(6, length, payload))) {
      return `there are not ${length} bytes of data`;
    }
    recording.add(at, id, bus, flags, length);
    return undefined;
  }

  private header(text: string): string | undefined {
    if (text.includes('***DEC***')) this.decimal = true;
    else if (text.includes('***HEX***')) this.decimal = false;
    else if (text.includes('***ABSOLUTE MODE***')) this.mode = 'absolute';
    else if (text.includes('***RELATIVE MODE***')) this.mode = 'relative';
    else if (text.includes('***SYSTEM MODE***')) this.mode = 'system';
    const date = /START DATE AND TIME (\d+):(\d+):(\d+) (\d+):(\d+):(\d+):(\d+)/.exec(text);
    if (date === null) return undefined;
    const [dayOfMonth, month, year, hour, minute, second, milli] = date.slice(1).map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const at = utc(year, month, dayOfMonth, hour, minute, second);
    if (Number.isNaN(at)) return 'the start date is not day:month:year hour:minute:second:millisecond';
    this.start = at + milli;
    this.midnight = utc(year, month, dayOfMonth);
    this.before = this.start - this.midnight;
    this.elapsed = 0;
    return undefined;
  }

  private moment(time: number): number {
    if (this.mode === 'absolute') return this.start + time;
    if (this.mode === 'relative') {
      this.elapsed += time;
      return this.start + this.elapsed;
    }
    // A step back of half a day means that midnight has passed; a smaller one is a frame out of order.
    if (time < this.before - DAY / 2) this.midnight += DAY;
    this.before = time;
    return this.midnight + time;
  }
}

function typeOf(word: string): { extended: boolean; remote: boolean; fd: boolean } | null {
  const type = /^([sx])(r?)(-?fd)?$/i.exec(word);
  if (type === null) return null;
  return { extended: /x/i.test(type[1] as string), remote: type[2] !== '', fd: type[3] !== undefined };
}

/** Maximum number of digits of hours, minutes, seconds and the fraction. */
const digits = [4, 2, 2, 6];

/** Returns the milliseconds of `hours:minutes:seconds:fraction`, or NaN for other text. */
function timeOf(bytes: Uint8Array, from: number, to: number): number {
  let seconds = 0;
  let begin = from;
  for (let part = 0; part < 3; part++) {
    let end = begin;
    while (end < to && bytes[end] !== 58) end++;
    const value = end === to || end - begin > (digits[part] as number) ? -1 : integerOf(bytes, begin, end);
    if (value < 0) return Number.NaN;
    seconds = seconds * 60 + value;
    begin = end + 1;
  }
  const size = to - begin;
  const fraction = size > (digits[3] as number) ? -1 : integerOf(bytes, begin, to);
  return fraction < 0 ? Number.NaN : seconds * 1000 + fraction * (size < 4 ? 1 : 10 ** (3 - size));
}
