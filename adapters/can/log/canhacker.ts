/**
 * Traces of CANHacker and of its successor CarBus Analyzer, whose lines end in CR alone:
 *
 *     Time   ID     DLC Data                    Comment
 *     00.000 00004000 8 36 47 19 43 01 00 00 80
 *
 *     @ TEXT @ 3 @ 64 @ 0 @ 591 @ 38782 @ 00:00:38.782 @
 *     14,687332   1   0004   4E0   8   24 00 00 00 00 00 00 00   00000000   $
 *
 * Identifiers beyond 11 bits are extended. Times count from 0: the older form restarts every minute; the newer
 * form has seconds and, after a comma and without leading zeros, milliseconds (version 2) or microseconds (3).
 * Channel n of the newer form is `can(n-1)`; the older form is `can0`.
 */
import { Fields, integerOf } from './fields.ts';
import { identifier, type Recording } from './recording.ts';
import type { LineParser } from './text.ts';

export class CanHackerLines implements LineParser {
  private readonly recording: Recording;
  private readonly fields = new Fields();
  /** Units per second of the number after the comma; 0 for the older form. */
  private parts = 0;
  private minutes = 0;
  private before = 0;

  constructor(recording: Recording) {
    this.recording = recording;
  }

  line(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { fields } = this;
    fields.split(bytes, start, end);
    if (fields.count === 0 || fields.is(0, 'time') || fields.code(0, 0) === 35) return undefined;
    if (fields.code(0, 0) === 64) {
      this.parts = fields.is(3, '2') ? 1000 : 1_000_000;
      return undefined;
    }
    return this.parts > 0 ? this.newer(bytes) : this.older();
  }

  private newer(bytes: Uint8Array): string | undefined {
    const { fields, recording } = this;
    const at = this.time(bytes, fields.start[0] as number, fields.end[0] as number);
    if (at < 0) return 'the time is not a number of seconds';
    const number = fields.integer(1);
    const bus = number < 0 ? -1 : recording.channel(Math.max(0, number - 1));
    if (bus < 0) return number < 0 ? 'the channel is not a number' : 'more than 256 buses';
    return this.frame(at, bus, 3);
  }

  /** Returns the ms of seconds and, after a comma or point, a number of {@link parts}. -1 for invalid text. */
  private time(bytes: Uint8Array, from: number, to: number): number {
    let comma = from;
    while (comma < to && bytes[comma] !== 44 && bytes[comma] !== 46) comma++;
    const seconds = comma - from > 12 ? -1 : integerOf(bytes, from, comma);
    const behind = to - comma - 1 > 6 ? -1 : integerOf(bytes, comma + 1, to);
    return seconds < 0 || behind < 0 ? -1 : seconds * 1000 + (behind * 1000) / this.parts;
  }

  private older(): string | undefined {
    const { fields, recording } = this;
    const time = fields.scaled(0, 1000);
    if (Number.isNaN(time)) return 'the time is not a number of seconds';
    if (time < this.before) this.minutes++;
    this.before = time;
    return this.frame(this.minutes * 60_000 + time, recording.unnamed(), 1);
  }

  private frame(at: number, bus: number, first: number): string | undefined {
    const { fields, recording } = this;
    const id = identifier(fields.hex(first), false);
    if (id < 0) return 'the identifier is not a hexadecimal number of at most 29 bits';
    const length = fields.integer(first + 1);
    if (length < 0 || length > 8) return 'the length is not a number of at most 8';
    if (!fields.octets(first + 2, length, recording.payload)) return `there are not ${length} bytes of data`;
    recording.add(at, id, bus, 0, length);
    return undefined;
  }
}
