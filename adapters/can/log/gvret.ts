/**
 * CSV of GVRET and SavvyCAN:
 *
 *     Time Stamp,ID,Extended,Bus,LEN,D1,D2,D3,D4,D5,D6,D7,D8
 *     166064000,0000021A,false,0,8,FE,36,12,FE,69,05,07,AD,
 *     Time Stamp,ID,Extended,Dir,Bus,LEN,D1,…
 *
 * The header names the columns. Times are microseconds, UTC or since power-on as they stand; bus n is `can(n)`.
 * A length beyond 8 makes an FD frame.
 */
import { FD, SENT } from '../../../agent/ports.ts';
import { Fields } from './fields.ts';
import { identifier, type Recording } from './recording.ts';
import type { LineParser } from './text.ts';

export class GvretLines implements LineParser {
  private readonly recording: Recording;
  private readonly fields = new Fields();
  /** Columns before the bus that only newer files have. */
  private shift = 0;

  constructor(recording: Recording) {
    this.recording = recording;
  }

  line(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { fields, recording } = this;
    fields.splitAt(44, bytes, start, end);
    if (fields.count === 1 && fields.size(0) === 0) return undefined;
    if (fields.is(0, 'time stamp')) {
      this.shift = fields.is(3, 'dir') ? 1 : 0;
      return undefined;
    }
    const { shift } = this;
    const at = fields.scaled(0, 0.001);
    if (Number.isNaN(at)) return 'the time is not a number of microseconds';
    const extended = fields.is(2, 'true') || fields.is(2, '1');
    if (!extended && !fields.is(2, 'false') && !fields.is(2, '0')) return 'the third column is not true or false';
    const id = identifier(fields.hex(1), extended);
    if (id < 0) return 'the identifier is not a hexadecimal number of at most 29 bits';
    const sent = shift === 1 && fields.is(3, 'tx');
    if (shift === 1 && !sent && !fields.is(3, 'rx')) return 'the direction is not Rx or Tx';
    const number = fields.integer(3 + shift);
    const bus = number < 0 ? -1 : recording.channel(number);
    if (bus < 0) return number < 0 ? 'the bus is not a number' : 'more than 256 buses';
    const length = fields.integer(4 + shift);
    if (length < 0 || length > 64) return 'the length is not a number of at most 64';
    if (!fields.octets(5 + shift, length, recording.payload)) return `there are not ${length} bytes of data`;
    recording.add(at, id, bus, (length > 8 ? FD : 0) | (sent ? SENT : 0), length);
    return undefined;
  }
}
