/**
 * Frames in the ASCII protocol of serial CAN adapters (Lawicel CAN232 manual, "slcan" in Linux), without the final
 * CR:
 *
 *     t iii l dd…  [ssss]        standard identifier, data       r iii l        remote
 *     T iiiiiiii l dd…  [ssss]   extended identifier, data       R iiiiiiii l   remote
 *     d, D like t, T             CAN FD (CANable 2)              b, B           CAN FD with bit rate switch
 *
 * `l` is the data length code in hexadecimal (ISO 11898-1 §8.4.2.4: 9..F are 12, 16, 20, 24, 32, 48 and 64 bytes, CAN FD
 * only), `ssss` a time stamp, milliseconds modulo 60,000. Some clones send eight digits of microseconds instead.
 */
import { BIT_RATE_SWITCH, EXTENDED, FD, REMOTE } from '../../../agent/ports.ts';

/** A frame object that is reused for each line. */
export interface SlcanFrame {
  /** Identifier with EXTENDED and REMOTE bits. */
  id: number;
  /** FD and BIT_RATE_SWITCH. */
  flags: number;
  /** Payload length in bytes; for a remote frame, the requested length. */
  length: number;
  /** 64 bytes, of which the first `length` are valid; zeros for a remote frame. */
  readonly data: Uint8Array;
  /** Milliseconds of the adapter's clock modulo `wrap`; NaN without a time stamp. */
  stamp: number;
  wrap: number;
}

export function emptyFrame(): SlcanFrame {
  return { id: 0, flags: 0, length: 0, data: new Uint8Array(64), stamp: Number.NaN, wrap: 0 };
}

const lengths: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];
const longestClassic = 8;
const minute = 60_000;
/** Period in ms of a microsecond time stamp of 32 bits. */
const microsecondWrap = 2 ** 32 / 1000;
const mostStandard = 0x7ff;
const mostExtended = 0x1fff_ffff;

/** Value of a hexadecimal digit by its character code. 255 for other characters. */
const digits = new Uint8Array(256).fill(255);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  digits[digit.charCodeAt(0)] = value;
  digits[digit.toUpperCase().charCodeAt(0)] = value;
}

interface Letter {
  readonly extended: boolean;
  readonly remote: boolean;
  readonly flags: number;
}
const letters = new Map<number, Letter>(
  (
    [
      ['t', 0, false],
      ['r', 0, true],
      ['d', FD, false],
      ['b', FD | BIT_RATE_SWITCH, false],
    ] as const
  ).flatMap(([letter, flags, remote]): [number, Letter][] => [
    [letter.charCodeAt(0), { extended: false, remote, flags }],
    [letter.toUpperCase().charCodeAt(0), { extended: true, remote, flags }],
  ]),
);

/** Returns true for the first letter of a frame. The line may still be invalid. */
export function beginsFrame(code: number | undefined): boolean {
  return code !== undefined && letters.has(code);
}

/** Reads a line into `frame`. Returns false if the line is not a frame; the content of `frame` is then undefined. */
export function readFrame(line: Uint8Array, frame: SlcanFrame): boolean {
  const letter = letters.get(line[0] as number);
  if (letter === undefined) return false;
  const header = letter.extended ? 9 : 4;
  const id = numberIn(line, 1, header);
  const code = digits[line[header] ?? 0] as number;
  const length = lengths[code];
  if (id < 0 || id > (letter.extended ? mostExtended : mostStandard) || length === undefined) return false;
  if (letter.flags === 0 && length > longestClassic) return false;
  const start = header + 1;
  // Some adapters send payload with remote frames, too.
  const payload = !letter.remote || line.length - start === length * 2 ? length : 0;
  const end = start + payload * 2;
  if (line.length < end || !readStamp(line, end, frame)) return false;
  const { data } = frame;
  data.fill(0);
  for (let i = 0; i < payload; i++) {
    const byte = numberIn(line, start + 2 * i, start + 2 * i + 2);
    if (byte < 0) return false;
    data[i] = byte;
  }
  if (letter.remote) data.fill(0);
  frame.id = (id | (letter.extended ? EXTENDED : 0) | (letter.remote ? REMOTE : 0)) >>> 0;
  frame.flags = letter.flags;
  frame.length = length;
  return true;
}

/** Reads the end of the line after the payload: nothing, or a time stamp. */
function readStamp(line: Uint8Array, start: number, frame: SlcanFrame): boolean {
  const length = line.length - start;
  frame.stamp = Number.NaN;
  if (length === 0) return true;
  if (length !== 4 && length !== 8) return false;
  const value = numberIn(line, start, line.length);
  frame.stamp = length === 4 ? value : value / 1000;
  frame.wrap = length === 4 ? minute : microsecondWrap;
  return value >= 0 && frame.stamp < frame.wrap;
}

/** Returns the hexadecimal number at `from` (included) to `to` (excluded), or -1 if a character is not a digit. */
function numberIn(line: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = digits[line[i] ?? 0] as number;
    if (digit > 15) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/** Frame to send. `length` is that of a remote frame, or of the payload. */
interface WrittenFrame {
  readonly id: number;
  readonly flags: number;
  readonly data: Uint8Array;
  readonly length?: number;
}

/** Returns the line of a frame, or undefined for a length or identifier that the protocol does not have. */
export function writeFrame({ id, flags, data, length = data.length }: WrittenFrame): string | undefined {
  const extended = (id & EXTENDED) !== 0;
  const remote = (id & REMOTE) !== 0;
  const fd = (flags & FD) !== 0;
  const code = lengths.indexOf(length);
  const number = (id & ~(EXTENDED | REMOTE)) >>> 0;
  if (code < 0 || number > (extended ? mostExtended : mostStandard)) return undefined;
  if (fd ? remote : length > longestClassic) return undefined;
  const letter = remote ? 'r' : fd ? ((flags & BIT_RATE_SWITCH) !== 0 ? 'b' : 'd') : 't';
  const identifier = hex(number, extended ? 8 : 3);
  const payload = remote ? '' : Array.from(data, (byte) => hex(byte, 2)).join('');
  return `${extended ? letter.toUpperCase() : letter}${identifier}${hex(code, 1)}${payload}`;
}

function hex(value: number, width: number): string {
  return value.toString(16).toUpperCase().padStart(width, '0');
}
