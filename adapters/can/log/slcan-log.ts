/**
 * A recording of the serial line of an adapter with Lawicel's protocol (CANUSB manual; slcan):
 *
 *     t1232AABB            11 bits, length, bytes
 *     T18FEF1003112233F1E2 29 bits; at the end the time stamp, ms of a minute, if it was enabled in the adapter (Z1)
 *     r1234  R18FEF1000    remote frames
 *     1D5210000000000E0D7  no letter and no length: data frames of 11 bits from some loggers
 *
 * d, D, b and B are CAN FD frames, the last two with a faster data phase; their length is a data length code. Lines
 * end with CR. Without time stamps, all frames have the time 0.
 */
import { BIT_RATE_SWITCH, FD, REMOTE } from '../../../agent/ports.ts';
import { hexOf } from './fields.ts';
import type { Head } from './format.ts';
import { identifier, type Recording } from './recording.ts';
import { bare, hasBareLines, LETTERS, STAMP, slcanLength, slcanSize, spoken } from './slcan-line.ts';
import type { LineParser } from './text.ts';

const MINUTE = 60_000;
export class SlcanLines implements LineParser {
  private readonly recording: Recording;
  private readonly withBare: boolean;
  private minutes = 0;
  private before = 0;
  /** True if frames have time stamps: a last frame without a time stamp is then incomplete. */
  private stamped = false;

  constructor(recording: Recording, head: Head) {
    this.recording = recording;
    this.withBare = hasBareLines(head);
  }

  line(bytes: Uint8Array, start: number, end: number, whole: boolean): string | undefined {
    let from = start;
    let to = end;
    while (from < to && isBlank(bytes[from] as number)) from++;
    while (to > from && isBlank(bytes[to - 1] as number)) to--;
    if (from === to || bytes[from] === 35) return undefined;
    const letter = LETTERS.indexOf(String.fromCharCode(bytes[from] as number));
    const size = slcanSize(bytes, from, to);
    if (size > 0) {
      if (!whole && this.stamped && to - from === size) return 'the time stamp is missing';
      return this.frame(bytes, from, to, letter, size);
    }
    if (this.withBare && whole && bare.test(latin1(bytes, from, to))) return this.bare(bytes, from, to);
    if (letter >= 0) return 'the line is not a frame of the length that it says';
    if (!spoken.test(latin1(bytes, from, to))) return 'the line is neither a frame nor an answer of an adapter';
    this.recording.passOver('commands and answers of the adapter');
    return undefined;
  }

  private frame(bytes: Uint8Array, start: number, end: number, letter: number, size: number): string | undefined {
    const { recording } = this;
    const extended = letter % 2 === 1;
    const behind = start + 1 + (extended ? 8 : 3);
    const id = identifier(hexOf(bytes, start + 1, behind), extended);
    if (id < 0 || (!extended && id > 0x7ff)) return `no identifier of ${extended ? 29 : 11} bits`;
    const code = hexOf(bytes, behind, behind + 1);
    const stamp = end - start > size ? hexOf(bytes, end - STAMP, end) : 0;
    if (stamp < 0) return 'the time stamp is not four hexadecimal digits';
    this.stamped ||= end - start > size;
    const at = this.timeOf(stamp);
    const bus = recording.unnamed();
    if (letter === 2 || letter === 3) {
      recording.addEmpty(at, (id | REMOTE) >>> 0, bus, 0, Math.min(8, code));
      return undefined;
    }
    const length = slcanLength(code, letter);
    if (!this.octets(bytes, behind + 1, length)) return 'the data are not hexadecimal bytes';
    recording.add(at, id, bus, letter < 4 ? 0 : letter < 6 ? FD : FD | BIT_RATE_SWITCH, length);
    return undefined;
  }

  private bare(bytes: Uint8Array, start: number, end: number): string | undefined {
    const length = (end - start - 3) / 2;
    if (!this.octets(bytes, start + 3, length)) return 'the data are not hexadecimal bytes';
    this.recording.add(0, hexOf(bytes, start, start + 3), this.recording.unnamed(), 0, length);
    return undefined;
  }

  private octets(bytes: Uint8Array, from: number, length: number): boolean {
    const { payload } = this.recording;
    for (let i = 0; i < length; i++) {
      const octet = hexOf(bytes, from + 2 * i, from + 2 * i + 2);
      if (octet < 0) return false;
      payload[i] = octet;
    }
    return true;
  }

  private timeOf(stamp: number): number {
    if (stamp < this.before) this.minutes++;
    this.before = stamp;
    return this.minutes * MINUTE + stamp;
  }
}

/** Returns true for blanks and BEL, which an adapter sends without a line end to refuse a command. */
function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 7;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, 64)).toString('latin1');
}
