/**
 * Text output of Kvaser's CANKing and of the Memorator tools:
 *
 *     Chn Identifier Flg   DLC  D0...1...2...3...4...5...6..D7       Time     Dir
 *      0    00000065         5  01  00  00  00  00                1675.572378 T
 *      0    0CFBFFDB X       8  1B  31  20  EB  B3  FF  D9  FF     100.000139 R
 *      0    00000000            ErrorFrame                          29.095270 R
 *
 * Flag X means an extended identifier, R a remote frame. Channel n is `can(n)`. Times count from the start of the
 * measurement. In decimal output, identifiers and bytes are decimal, which is detected by bytes of one or three digits.
 */
import { FD, REMOTE, SENT } from '../../../agent/ports.ts';
import { Fields } from './fields.ts';
import type { Head } from './format.ts';
import { busError, identifier, lengthOfCode, MAX_PAYLOAD_BYTES, type Recording } from './recording.ts';
import type { LineParser } from './text.ts';

/** Channel, identifier, flags, length, and a byte that does not have two digits. */
const decimalLine = /^\s*\d{1,3}\s+\d{3,10}\s+([A-Z]{1,4}\s+)?[1-9]\d?\s+(\d\d\s+)*(\d|\d{3})\s/i;

export class KvaserLines implements LineParser {
  private readonly recording: Recording;
  private readonly fields = new Fields();
  private readonly decimal: boolean;

  constructor(recording: Recording, { lines }: Head) {
    this.recording = recording;
    this.decimal = lines.some((line) => decimalLine.test(line));
  }

  line(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { fields, recording } = this;
    fields.split(bytes, start, end);
    if (fields.count === 0) return undefined;
    const channel = fields.integer(0);
    if (channel < 0) {
      // Column names, or `Logging stopped.`
      recording.passOver('lines that begin with no channel');
      return undefined;
    }
    const { count } = fields;
    if (count < 5) return 'there are fewer than 5 columns';
    const at = fields.scaled(count - 2, 1000);
    const direction = fields.text(count - 1).toUpperCase();
    if (direction !== 'R' && direction !== 'T') return 'the direction at the end is not R or T';
    if (Number.isNaN(at)) return 'the time is not a number of seconds';
    const bus = recording.channel(channel);
    if (bus < 0) return 'more than 256 buses';
    const sent = direction === 'T' ? SENT : 0;
    if (fields.is(2, 'errorframe')) {
      recording.addEmpty(at, busError, bus, sent, 8);
      return undefined;
    }
    const flagged = !isDigit(fields.code(2, 0));
    const flags = flagged ? fields.text(2).toUpperCase() : '';
    const number = this.decimal ? fields.integer(1) : fields.hex(1);
    const id = identifier(number, flags.includes('X'));
    if (id < 0) return 'the identifier is not a number of at most 29 bits';
    return this.frame(at, id, bus, sent, flags.includes('R'), flagged ? 3 : 2);
  }

  /** @param dlc column of the length, which the payload bytes follow */
  private frame(at: number, id: number, bus: number, sent: number, remote: boolean, dlc: number): string | undefined {
    const { fields, recording } = this;
    const said = fields.integer(dlc);
    if (said < 0 || said > MAX_PAYLOAD_BYTES) return `the length is not a number up to ${MAX_PAYLOAD_BYTES}`;
    if (remote) {
      recording.addEmpty(at, (id | REMOTE) >>> 0, bus, sent, Math.min(8, said));
      return undefined;
    }
    const length = fields.count - dlc - 3;
    if (length !== said && (length <= 8 || length !== lengthOfCode(said))) {
      return `there are not ${said} bytes of data`;
    }
    const { payload } = recording;
    const readable = this.decimal ? fields.decimals(dlc + 1, length, payload) : fields.octets(dlc + 1, length, payload);
    if (!readable) return 'the data are not bytes';
    recording.add(at, id, bus, length > 8 ? FD | sent : sent, length);
    return undefined;
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
