/**
 * CRTD, the log of the Open Vehicle Monitoring System ("CRTD CAN Log Format", 3.1):
 *
 *     1542473901.020305 1R11 213 00 00 00 00 c0 01 00 00
 *     1542473901.020970 2T29 18daf110 02 01 0c
 *     169.971289 CXX Info Type:crtd; Path:'/sd/can3.crtd';
 *
 * R received, T sent; 11 or 29 bits; bus n is `can(n-1)`; without a number, bus 1. Records of other types are skipped,
 * as the format requires. Times are read as UTC.
 */
import { EXTENDED, SENT } from '../../../agent/ports.ts';
import { Fields, Words } from './fields.ts';
import type { Recording } from './recording.ts';
import type { LineParser } from './text.ts';

export class CrtdLines implements LineParser {
  private readonly recording: Recording;
  private readonly fields = new Fields();
  private readonly types = new Words(typeOf);

  constructor(recording: Recording) {
    this.recording = recording;
  }

  line(bytes: Uint8Array, start: number, end: number, whole: boolean): string | undefined {
    const { fields, recording } = this;
    fields.split(bytes, start, end);
    if (fields.count === 0 || fields.code(0, 0) === 35) return undefined;
    const at = fields.scaled(0, 1000);
    if (Number.isNaN(at)) return 'the time is not a number of seconds';
    const type = this.types.meaning(fields, 1);
    if (typeof type === 'string') return type === 'event' ? undefined : type;
    const { extended, channel, flags } = type;
    const value = fields.hex(2);
    if (value < 0 || value > (extended ? 0x1fff_ffff : 0x7ff)) return `no identifier of ${extended ? 29 : 11} bits`;
    const length = fields.count - 3;
    if (length > 8) return 'more than 8 bytes of data';
    for (let i = 0; i < length; i++) {
      const octet = fields.hex(i + 3);
      if (octet < 0 || fields.size(i + 3) > 2) return 'the data are not hexadecimal bytes';
      if (!whole && i === length - 1 && fields.size(i + 3) < 2) return 'the last byte is incomplete';
      recording.payload[i] = octet;
    }
    const bus = recording.channel(channel);
    if (bus < 0) return 'more than 256 buses';
    const id = extended ? (value | EXTENDED) >>> 0 : value;
    recording.add(at, id, bus, flags, length);
    return undefined;
  }
}

/** Returns the meaning of a record type: a frame, another `event`, or a fault. */
function typeOf(word: string): { extended: boolean; channel: number; flags: number } | string {
  const frame = /^(\d{0,5})([RT])(11|29)$/i.exec(word);
  if (frame === null) return /^\d*[A-Z][A-Z\d]{2}$/i.test(word) ? 'event' : 'the type of the record is missing';
  const [, channel = '', direction = '', bits] = frame;
  return {
    extended: bits === '29',
    channel: Math.max(0, Number(channel === '' ? 1 : channel) - 1),
    flags: direction.toUpperCase() === 'T' ? SENT : 0,
  };
}
