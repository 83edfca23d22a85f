/**
 * Screen output of candump (can-utils `candump`, `log2long`):
 *
 *      (1436509052.249713)  vcan0       044   [5]  2A 36 6C 2B BA            '*6l+.'
 *       can0  RX - -  12345678  [16]  11 22 …
 *       can0  123   [8]  remote request
 *       can0  20000080   [8]  00 00 00 00 00 00 00 00   ERRORFRAME
 *
 * A length of two digits means an FD frame. Time stamps are absolute seconds (`-t a`), a date without time zone, read
 * as UTC (`-t A`), seconds since the first frame (`-t z`) or since the previous one (`-t d`). The last two look alike;
 * {@link looksRelative} distinguishes them. Without time stamps, all frames have the time 0.
 */
import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, EXTENDED, FD, REMOTE, SENT } from '../../../agent/ports.ts';
import { utc } from './dates.ts';
import { Fields, isBlank, scaledOf, Words } from './fields.ts';
import type { Head } from './format.ts';
import type { Recording } from './recording.ts';
import type { LineParser } from './text.ts';

export class CandumpScreenLines implements LineParser {
  private readonly recording: Recording;
  private readonly fields = new Fields();
  private readonly lengths = new Words((word) => (/^\[\d{1,2}\]$/.test(word) ? Number(word.slice(1, -1)) : -1));
  /** True if time stamps are seconds since the previous frame. */
  private readonly relative: boolean;
  private at = 0;

  constructor(recording: Recording, head: Head) {
    this.recording = recording;
    this.relative = looksRelative(head.lines);
  }

  line(bytes: Uint8Array, start: number, end: number): string | undefined {
    let p = start;
    while (p < end && isBlank(bytes[p] as number)) p++;
    if (p === end || bytes[p] === 35) return undefined;
    const fault = this.frame(bytes, p, end);
    // Lines that start with a tab and are not frames explain the preceding error frame (`-e`).
    return bytes[start] === 9 ? undefined : fault;
  }

  private frame(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { recording, fields } = this;
    let p = start;
    if (bytes[p] === 40) {
      let stop = p;
      while (stop < end && bytes[stop] !== 41) stop++;
      if (stop === end) return 'the time has no closing parenthesis';
      const at = timeOf(bytes, p + 1, stop);
      if (Number.isNaN(at)) return 'the time is neither a number of seconds nor a date';
      this.at = this.relative ? this.at + at : at;
      p = stop + 1;
    }
    fields.split(bytes, p, end);
    // The length follows the identifier, and the interface precedes it.
    const named = fields.code(1, 0) !== 91;
    let i = named ? 1 : 0;
    let flags = 0;
    if (fields.is(i, 'rx') || fields.is(i, 'tx')) {
      flags = fields.is(i, 'tx') ? SENT : 0;
      i++;
      if (fields.code(i + 1, 0) !== 91) {
        if (fields.is(i, 'b')) flags |= BIT_RATE_SWITCH;
        if (fields.is(i + 1, 'e')) flags |= ERROR_STATE;
        i += 2;
      }
    }
    const value = fields.hex(i);
    const digits = fields.size(i);
    if (value < 0 || value > 0x3fff_ffff) return 'the identifier is not a hexadecimal number of at most 29 bits';
    // candump writes 3 or 8 digits; other tools omit leading zeros.
    const isExtended = digits === 8 || value > 0x7ff;
    let id = !isExtended || (value & ERROR) !== 0 ? value : (value | EXTENDED) >>> 0;
    i++;
    const length = this.lengths.meaning(fields, i);
    const fd = fields.size(i) === 4;
    if (length < 0 || length > (fd ? 64 : 8)) return 'no length in brackets behind the identifier';
    if (fd) flags |= FD;
    else flags &= SENT;
    i++;
    if (fields.code(i, 0) === 123) i++;
    const from = fields.start[0] as number;
    const bus = named
      ? recording.busAt(bytes, from, Math.min(fields.end[0] as number, from + 64))
      : recording.unnamed();
    if (bus < 0) return 'more than 256 buses';
    if (fields.is(i, 'remote')) {
      id = (id | REMOTE) >>> 0;
      recording.addEmpty(this.at, id, bus, flags, length);
      return undefined;
    }
    if (!fields.octets(i, length, recording.payload)) return `there are not ${length} bytes of data`;
    recording.add(this.at, id, bus, flags, length);
    return undefined;
  }
}

function timeOf(bytes: Uint8Array, from: number, to: number): number {
  const seconds = scaledOf(bytes, from, to, 1000);
  if (!Number.isNaN(seconds)) return seconds;
  const text = String.fromCharCode(...bytes.subarray(from, Math.min(to, from + 40)));
  const date = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})$/.exec(text);
  if (date === null) return Number.NaN;
  const [, year, month, day, hour, minute, second, fraction = ''] = date;
  const whole = utc(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
  return whole + Number(fraction) / 10 ** (fraction.length - 3);
}

/**
 * Returns true if time stamps are differences: they never decrease in any other mode, while differences soon do.
 * @param lines the first lines of the file
 */
function looksRelative(lines: readonly string[]): boolean {
  let before = 0;
  for (const line of lines) {
    const stamp = /^\s*\((\d{1,9}\.\d+)\)/.exec(line)?.[1];
    if (stamp === undefined) continue;
    if (Number(stamp) < before) return true;
    before = Number(stamp);
  }
  return false;
}
