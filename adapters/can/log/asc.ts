/**
 * Vector ASC (CANalyzer, CANoe; also `log2asc` of can-utils):
 *
 *     date Sam Sep 30 15:06:13.191 2017
 *     base hex  timestamps absolute
 *     Begin Triggerblock Sam Sep 30 15:06:13.191 2017
 *        2.501000 1 ErrorFrame
 *        2.510001 2 100             Tx   r
 *       17.876708 1 18EBFF00x       Rx   d 8 05 0C 00 00 00 00 00 00  Length = 240015 …
 *       30.005021 CANFD 1 Rx 300 Name 1 0 8 8 11 c2 03 04 05 06 07 08  102203 133 303000 …
 *
 * FD lines: identifier, name (optional), bit rate switch, error state, length code, length, data, duration, bit
 * count, flags. The flags (0x10 remote, 0x1000 FD) identify classic frames in this form.
 * Channel n is the bus `can(n-1)`. Times count from the trigger block's date, or else the header's, or else 0.
 * With relative time stamps, the time of every line of any kind is added.
 * Other events (statistics, chip status, J1939 transport, transmit requests) are skipped.
 */
import { BIT_RATE_SWITCH, ERROR_STATE, FD, REMOTE, SENT } from '../../../agent/ports.ts';
import { localDate } from './dates.ts';
import { Fields } from './fields.ts';
import { busError, identifier, type Recording } from './recording.ts';
import type { LineParser } from './text.ts';

const remoteFlag = 0x10;
const fdFlag = 0x1000;

export class AscLines implements LineParser {
  private readonly recording: Recording;
  private readonly fields = new Fields();
  private decimal = false;
  private relative = false;
  private start = 0;
  /** Date of the current trigger block until its first line is read. */
  private block: number | undefined;
  private blocks = 0;
  private elapsed = 0;

  constructor(recording: Recording) {
    this.recording = recording;
  }

  line(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { fields } = this;
    fields.split(bytes, start, end);
    if (fields.count === 0) return undefined;
    const first = fields.code(0, 0);
    if (first < 48 || first > 57) return this.header(bytes, start, end);
    const time = fields.scaled(0, 1000);
    if (Number.isNaN(time)) return 'the time is not a number of seconds';
    const at = this.moment(time);
    if (fields.count < 2) return 'nothing follows the time';
    if (fields.is(1, 'canfd')) return this.fdFrame(at);
    const channel = fields.integer(1);
    return channel < 0 ? undefined : this.classicFrame(at, channel);
  }

  private header(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { fields } = this;
    if (fields.is(0, 'base')) {
      this.decimal = fields.is(1, 'dec');
      for (let i = 2; i < fields.count; i++) if (fields.is(i, 'relative')) this.relative = true;
      return undefined;
    }
    const trigger = fields.is(0, 'begin') && fields.is(1, 'triggerblock');
    if (!trigger && !fields.is(0, 'date')) return undefined;
    const text = new TextDecoder().decode(bytes.subarray(start, Math.min(end, start + 256)));
    const date = localDate(text);
    if (Number.isNaN(date)) return trigger && fields.count === 2 ? undefined : 'the date cannot be read';
    if (trigger) this.block = date;
    else this.start = date;
    return undefined;
  }

  /** Returns the UTC milliseconds of a line with this time stamp (ms). */
  private moment(time: number): number {
    if (this.block !== undefined) {
      // Times of a later block continue from the start of the measurement, unless they restart.
      if (this.blocks++ === 0 || this.relative || time < this.elapsed) {
        this.start = this.block;
        this.elapsed = 0;
      }
      this.block = undefined;
    }
    this.elapsed = this.relative ? this.elapsed + time : time;
    return this.start + this.elapsed;
  }

  /** Returns `SENT`, 0, or -1 if the field is not a direction. */
  private direction(field: number): number {
    return this.fields.is(field, 'rx') ? 0 : this.fields.is(field, 'tx') ? SENT : -1;
  }

  private number(field: number, drop = 0): number {
    return this.decimal ? this.fields.integer(field, drop) : this.fields.hex(field, 0, drop);
  }

  private id(field: number): number {
    const extended = (this.fields.code(field, -1) | 32) === 120;
    return identifier(this.number(field, extended ? 1 : 0), extended);
  }

  private data(first: number, length: number): boolean {
    const { payload } = this.recording;
    return this.decimal ? this.fields.decimals(first, length, payload) : this.fields.octets(first, length, payload);
  }

  private classicFrame(at: number, channel: number): string | undefined {
    const { fields, recording } = this;
    if (fields.is(2, 'errorframe')) return this.error(at, channel);
    const sent = this.direction(3);
    if (sent < 0) return fields.count === 3 && this.id(2) >= 0 ? 'the frame is incomplete' : undefined;
    const id = this.id(2);
    if (id < 0) return 'the identifier is not a number of at most 29 bits';
    const bus = recording.channel(Math.max(0, channel - 1));
    if (bus < 0) return 'more than 256 buses';
    if (fields.is(4, 'r')) {
      const code = this.number(5);
      recording.addEmpty(at, (id | REMOTE) >>> 0, bus, sent, code < 0 ? 0 : Math.min(8, code));
      return undefined;
    }
    if (!fields.is(4, 'd')) return 'neither a data nor a remote frame';
    const code = this.number(5);
    const length = Math.min(8, code);
    if (code < 0) return 'the length code is not a number';
    if (!this.data(6, length)) return `there are not ${length} bytes of data`;
    recording.add(at, id, bus, sent, length);
    return undefined;
  }

  private fdFrame(at: number): string | undefined {
    const { fields, recording } = this;
    const channel = fields.integer(2);
    if (channel < 0) return 'the channel is not a number';
    if (fields.is(4, 'errorframe')) return this.error(at, channel);
    const sent = this.direction(3);
    if (sent < 0) return fields.is(3, 'txrq') ? undefined : 'neither a received nor a sent frame';
    const id = this.id(4);
    if (id < 0) return 'the identifier is not a number of at most 29 bits';
    const bit = (field: number) => fields.is(field, '0') || fields.is(field, '1');
    const i = bit(5) && bit(6) ? 5 : 6;
    if (!bit(i) || !bit(i + 1)) return 'bit rate switch and error state are not 0 or 1';
    const code = this.number(i + 2);
    const length = fields.integer(i + 3);
    if (code < 0 || length < 0 || length > 64) return 'the length is not a number of at most 64';
    const flags = fields.hex(i + 4 + length + 2);
    const bus = recording.channel(Math.max(0, channel - 1));
    if (bus < 0) return 'more than 256 buses';
    const fd = length > 8 || fields.is(i, '1') || fields.is(i + 1, '1') || flags < 0 || (flags & fdFlag) !== 0;
    if (length === 0 && (code > 0 || (flags > 0 && (flags & (remoteFlag | fdFlag)) === remoteFlag))) {
      recording.addEmpty(at, (id | REMOTE) >>> 0, bus, sent, Math.min(8, code));
      return undefined;
    }
    if (!this.data(i + 4, length)) return `there are not ${length} bytes of data`;
    const bits = (fields.is(i, '1') ? BIT_RATE_SWITCH : 0) | (fields.is(i + 1, '1') ? ERROR_STATE : 0);
    recording.add(at, id, bus, fd ? FD | bits | sent : sent, length);
    return undefined;
  }

  private error(at: number, channel: number): string | undefined {
    const bus = this.recording.channel(Math.max(0, channel - 1));
    if (bus < 0) return 'more than 256 buses';
    this.recording.addEmpty(at, busError, bus, 0, 8);
    return undefined;
  }
}
