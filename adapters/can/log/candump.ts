/**
 * The log format of can-utils (`candump -l`, `-L`; canframelib `parse_canframe`):
 *
 *     (1436509052.249713) vcan0 044#2A366C2BBA          data
 *     (1436509052.249713) vcan0 12345678##31122         FD, flags 3 = bit rate switch and error state
 *     (1436509052.249713) vcan0 123#R8                  remote, with the requested length
 *     (1436509052.249713) vcan0 20000080#0000000000000000   error message (linux/can/error.h)
 *
 * An identifier of 3 digits is a base identifier, of 8 digits an extended identifier or an error class. The fraction
 * of seconds is optional. A trailing `R` means received, `T` means sent. Times are read as UTC.
 */
import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, EXTENDED, FD, REMOTE, SENT } from '../../../agent/ports.ts';
import { nextOffset, span } from '../frames.ts';
import { hexDigit, hexOf, isBlank, scaledOf } from './fields.ts';
import { batchCapacity, type LogParser, type Recording } from './recording.ts';
import { type LineParser, TextParser } from './text.ts';

/** Longest common line without the bus name: `(` 10 `.` 6 `) ` name ` ` 8 `##f` 128 CR LF, and one more character. */
const commonForm = 164;

/**
 * Values of two characters, indexed by first + (second << 8): two decimal digits, two hexadecimal digits. 0 for other
 * characters, so that unused parts of the tables occupy no memory.
 */
const decimalPairs = new Uint8Array(0x1_0000);
const octets = new Uint16Array(0x1_0000);
/** Flag of table entries that are digits. */
const IS_DECIMAL = 0x80;
const IS_OCTET = 0x100;
for (let first = 0; first < 128; first++) {
  const high = hexDigit[first] as number;
  if (high > 15) continue;
  for (let second = 0; second < 128; second++) {
    const low = hexDigit[second] as number;
    if (low > 15) continue;
    octets[first | (second << 8)] = IS_OCTET | (high << 4) | low;
    if (first < 58 && second < 58) decimalPairs[first | (second << 8)] = IS_DECIMAL | (high * 10 + low);
  }
}

/** Parses lines of the common form in place, and other lines with {@link CandumpLines}. */
export class CandumpParser implements LogParser {
  private readonly recording: Recording;
  private readonly text: TextParser;

  constructor(recording: Recording) {
    this.recording = recording;
    this.text = new TextParser(recording, new CandumpLines(recording));
  }

  parse(bytes: Uint8Array, from: number, end: number, last: boolean): number {
    const { recording, text } = this;
    let pos = from;
    for (;;) {
      pos = this.scan(bytes, pos, end);
      if (recording.full) return pos;
      const next = text.parseLine(bytes, pos, end, last);
      if (next === pos) return pos;
      pos = next;
    }
  }

  /**
   * Reads consecutive lines `(ssssssssss.uuuuuu) name iii#dd…` of buses already seen, classic or FD, and checks
   * every character.
   * @returns the start of the first line that is not of this form or might extend beyond `end`.
   */
  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: one loop without calls, in which the compiler keeps the arrays
  private scan(bytes: Uint8Array, from: number, end: number): number {
    const { recording } = this;
    const { batch, names } = recording;
    const { at, id, length, offset, data, flags, bus: buses } = batch;
    // Copies in local constants: the compiler treats constants and tables of the module as variables.
    const isDecimal = 0x80;
    const isOctet = 0x100;
    const most = batchCapacity;
    const form = commonForm;
    const pairs = decimalPairs;
    const hex = octets;
    const digits = hexDigit;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let bus = 0;
    let name = names[0];
    if (name === undefined) return from;
    let wordOfName = firstWord(name);
    let maskOfName = firstMask(name);
    let count = batch.count;
    let used = nextOffset(batch);
    let lines = 0;
    let pos = from;
    // Digits of the last second read, and its time in ms: most lines have the same second as the previous line.
    let secondHead = 0;
    let secondMiddle = 0;
    let secondTail = -1;
    let second = 0;
    while (count < most && pos + form + name.length < end) {
      const head = view.getInt32(pos + 1, true);
      const middle = view.getInt32(pos + 5, true);
      const tail = view.getUint16(pos + 9, true);
      if (((head ^ secondHead) | (middle ^ secondMiddle) | (tail ^ secondTail)) !== 0) {
        const a = pairs[head & 0xffff] as number;
        const b = pairs[head >>> 16] as number;
        const c = pairs[middle & 0xffff] as number;
        const d = pairs[middle >>> 16] as number;
        const e = pairs[tail] as number;
        if ((a & b & c & d & e & isDecimal) === 0) break;
        second = (((a & 127) * 100 + (b & 127)) * 1_000_000 + ((c & 127) * 100 + (d & 127)) * 100 + (e & 127)) * 1000;
        secondHead = head;
        secondMiddle = middle;
        secondTail = tail;
      }
      const f = pairs[view.getUint16(pos + 12, true)] as number;
      const g = pairs[view.getUint16(pos + 14, true)] as number;
      const h = pairs[view.getUint16(pos + 16, true)] as number;
      if ((f & g & h & isDecimal) === 0 || bytes[pos] !== 40 || bytes[pos + 11] !== 46) break;
      // `) `
      if (view.getUint16(pos + 18, true) !== 0x2029) break;

      let p = pos + 20;
      if (((view.getInt32(p, true) ^ wordOfName) & maskOfName) !== 0 || !endsAt(name, bytes, p)) {
        const index = whichAt(names, bytes, p);
        name = names[index];
        if (name === undefined || pos + form + name.length >= end) break;
        wordOfName = firstWord(name);
        maskOfName = firstMask(name);
        if (recording.only === undefined) bus = index;
      }
      p += name.length;
      const top = digits[bytes[p + 1] as number] as number;
      const rest = hex[view.getUint16(p + 2, true)] as number;
      let identifier = (top << 8) | (rest & 255);
      p += 4;
      if (bytes[p] === 35) {
        if (top > 7 || rest === 0) break;
      } else {
        if (bytes[p + 5] !== 35) break;
        identifier = hexOf(bytes, p - 3, p + 5);
        if (identifier < 0 || identifier > 0x1fff_ffff) break;
        identifier = (identifier | EXTENDED) >>> 0;
        p += 5;
      }
      p++;

      let longest = 8;
      let flag = 0;
      if (bytes[p] === 35) {
        flag = fdFlags[bytes[p + 1] as number] as number;
        if (flag === 0) break;
        longest = 64;
        p += 2;
      }
      let n = 0;
      while (n < longest) {
        const octet = hex[view.getUint16(p, true)] as number;
        if (octet < isOctet) break;
        data[used + n] = octet;
        n++;
        p += 2;
      }
      if (bytes[p] === 13) p++;
      if (bytes[p] !== 10) break;
      const next = used + span(n);
      for (let i = used + n; i < next; i++) data[i] = 0;

      at[count] = second + (((f & 127) * 100 + (g & 127)) * 100 + (h & 127)) / 1000;
      id[count] = identifier;
      buses[count] = bus;
      flags[count] = flag;
      length[count] = n;
      offset[count] = used;
      used = next;
      count++;
      lines++;
      pos = p + 1;
    }
    batch.count = count;
    this.text.passed(lines);
    return pos;
  }
}

/** Returns the first four bytes of a name and the blank after it, as a word; `firstMask` masks the bytes used. */
function firstWord(name: Uint8Array): number {
  let word = 0;
  for (let i = 0; i < 4 && i <= name.length; i++) word |= (name[i] ?? 32) << (i * 8);
  return word;
}

function firstMask(name: Uint8Array): number {
  return name.length >= 3 ? -1 : 2 ** ((name.length + 1) * 8) - 1;
}

/** Returns true if the rest of `name` after four bytes, and a blank, follow at `at`. */
function endsAt(name: Uint8Array, bytes: Uint8Array, at: number): boolean {
  if (name.length < 4) return true;
  for (let i = 4; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
  return bytes[at + name.length] === 32;
}

/** Returns true if `name` and a blank are at this position. */
function isAt(name: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
  return bytes[at + name.length] === 32;
}

/** Returns the index of the name at this position, or -1. */
function whichAt(names: readonly Uint8Array[], bytes: Uint8Array, at: number): number {
  for (let i = 0; i < names.length; i++) if (isAt(names[i] as Uint8Array, bytes, at)) return i;
  return -1;
}

/** Flags of an FD frame by the character between `##` and the data; 0 if it is not a digit. */
const fdFlags = new Uint8Array(256);
for (let code = 0; code < 256; code++) {
  const digit = hexDigit[code] as number;
  if (digit < 16)
    fdFlags[code] = FD | ((digit & 1) !== 0 ? BIT_RATE_SWITCH : 0) | ((digit & 2) !== 0 ? ERROR_STATE : 0);
}

/** Parses any line of the format. */
class CandumpLines implements LineParser {
  private readonly recording: Recording;

  constructor(recording: Recording) {
    this.recording = recording;
  }

  line(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { recording } = this;
    let p = start;
    while (p < end && isBlank(bytes[p] as number)) p++;
    if (p === end || bytes[p] === 35) return undefined;
    if (bytes[p] !== 40) return 'no time in parentheses at the start of the line';
    let stop = p;
    while (stop < end && bytes[stop] !== 41) stop++;
    if (stop === end) return 'the time has no closing parenthesis';
    const at = scaledOf(bytes, p + 1, stop, 1000);
    if (Number.isNaN(at)) return 'the time is not a number of seconds';

    p = stop + 1;
    while (p < end && isBlank(bytes[p] as number)) p++;
    stop = p;
    while (stop < end && !isBlank(bytes[stop] as number)) stop++;
    if (stop === p || stop === end) return 'bus or frame is missing';
    if (stop - p > 64) return 'the bus name is longer than 64 characters';
    const name = p;
    const nameEnd = stop;

    p = stop;
    while (p < end && isBlank(bytes[p] as number)) p++;
    stop = p;
    while (stop < end && bytes[stop] !== 35) stop++;
    if (stop === end) return 'no # between identifier and data';
    const value = hexOf(bytes, p, stop);
    if (value < 0 || (stop - p !== 3 && stop - p !== 8)) return 'the identifier is not 3 or 8 hexadecimal digits';
    let id = value;
    if (stop - p === 8) {
      if (value > 0x3fff_ffff) return 'the identifier has more than 29 bits';
      id = (value & ERROR) !== 0 ? value : (value | EXTENDED) >>> 0;
    } else if (value > 0x7ff) return 'the identifier has more than 11 bits';

    const bus = recording.busAt(bytes, name, nameEnd);
    if (bus < 0) return 'more than 256 buses';
    return this.body(bytes, stop + 1, end, at, id, bus);
  }

  /** Reads the text after the first `#`. */
  private body(bytes: Uint8Array, from: number, end: number, at: number, id: number, bus: number): string | undefined {
    const { recording } = this;
    const { payload } = recording;
    let p = from;
    let flags = 0;
    let most = 8;
    if (p < end && (bytes[p] === 82 || bytes[p] === 114)) {
      const digit = p + 1 < end ? (hexDigit[bytes[p + 1] as number] as number) : 0x80;
      if (digit < 16 && digit > 8) return 'a remote frame asks for more than 8 bytes';
      const sent = direction(bytes, p + (digit < 16 ? 2 : 1), end);
      if (sent < 0) return 'characters behind the frame';
      recording.addEmpty(at, (id | REMOTE) >>> 0, bus, sent, digit < 16 ? digit : 0);
      return undefined;
    }
    if (p < end && bytes[p] === 35) {
      flags = p + 1 < end ? (fdFlags[bytes[p + 1] as number] as number) : 0;
      if (flags === 0) return 'the flags of an FD frame are not a hexadecimal digit';
      most = 64;
      p += 2;
    }
    let n = 0;
    while (p < end && !isBlank(bytes[p] as number) && bytes[p] !== 95) {
      if (n > 0 && bytes[p] === 46) p++;
      const upper = p + 1 < end ? (hexDigit[bytes[p] as number] as number) : 0x80;
      const lower = p + 1 < end ? (hexDigit[bytes[p + 1] as number] as number) : 0x80;
      if ((upper | lower) > 15) return 'the data are not pairs of hexadecimal digits';
      if (n === most) return `more than ${most} bytes of data`;
      payload[n++] = (upper << 4) | lower;
      p += 2;
    }
    // `_9` to `_F`: the data length code of a classic frame of 8 bytes, as sent on the bus.
    if (p < end && bytes[p] === 95) {
      const code = p + 1 < end ? (hexDigit[bytes[p + 1] as number] as number) : 0x80;
      if (n !== 8 || flags !== 0 || code > 15 || code < 9) return 'a data length code that does not fit';
      p += 2;
    }
    const sent = direction(bytes, p, end);
    if (sent < 0) return 'characters behind the frame';
    recording.add(at, id, bus, flags | sent, n);
    return undefined;
  }
}

/** Returns SENT for a trailing `T`, 0 for `R` or nothing, -1 for other text. */
function direction(bytes: Uint8Array, from: number, end: number): number {
  let p = from;
  while (p < end && isBlank(bytes[p] as number)) p++;
  if (p === end) return 0;
  if (p === from) return -1;
  const letter = bytes[p++];
  while (p < end && isBlank(bytes[p] as number)) p++;
  if (p < end) return -1;
  return letter === 84 ? SENT : letter === 82 ? 0 : -1;
}
