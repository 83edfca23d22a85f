/** Converts records to frames (ASAM "Bus Logging" 1.0). */
import { BIT_RATE_SWITCH, ERROR_STATE, FD, type FrameBatch, REMOTE, SENT } from '../../../../agent/ports.ts';
import { append } from '../../frames.ts';
import { busError, identifier, lengthOfCode, MAX_PAYLOAD_BYTES, type Recording } from '../recording.ts';
import type { Read } from './channels.ts';
import type { EventKind, FrameFields, Group } from './layout.ts';

/** Result of {@link FrameRecords.add} for a record. */
export const ADDED = 0;
export const NO_ROOM = 1;
const LEFT_OUT = 2;

const none = new Uint8Array(0);

/** The frames of one group. */
export class FrameRecords {
  /** Reason for {@link LEFT_OUT}, set by {@link add}. */
  fault = '';
  readonly #recording: Recording;
  readonly #event: EventKind;
  readonly #fields: FrameFields;
  readonly #start: number;
  readonly #bus: number;
  /** Index of the bus by its number. */
  readonly #buses = new Int32Array(257).fill(-1);
  readonly #payload = new Uint8Array(MAX_PAYLOAD_BYTES);

  constructor(recording: Recording, group: Group, fields: FrameFields, event: EventKind, start: number) {
    this.#recording = recording;
    this.#event = event;
    this.#fields = fields;
    this.#start = start;
    this.#bus = group.bus;
  }

  /** Returns the reason why no record of such a group can be read, or undefined. */
  static unreadable({ fields, event, damage }: Group, time: Read | string): string | undefined {
    if (damage !== undefined) return damage;
    if (fields === undefined) return 'they have no fields';
    if (typeof time === 'string') return time;
    if (event === 'ErrorFrame' || event === 'OverloadFrame') return undefined;
    if (fields.id === undefined) return 'they have no identifier';
    if (event === 'DataFrame' && fields.payload === undefined) return 'they have no bytes';
    return undefined;
  }

  /** First byte and maximum length of the payload in each record; `most` is 0 if the payload is elsewhere. */
  get inline(): { readonly byte: number; readonly most: number } {
    const { payload } = this.#fields;
    return payload?.kind === 'inline' ? payload : { byte: 0, most: 0 };
  }

  /** Returns the payload offset of the record at `at`, for a group with payloads elsewhere. */
  offset(view: DataView, at: number): number {
    const payload = this.#fields.payload;
    return payload?.kind === 'offset' ? payload.offset(view, at) : 0;
  }

  /** Returns the payload length stated in the record at `at`, or -1 if it is not stated. */
  length(view: DataView, at: number): number {
    const { length, dlc } = this.#fields;
    if (length !== undefined) return length(view, at);
    return dlc === undefined ? -1 : lengthOfCode(dlc(view, at));
  }

  /**
   * Adds the frame of the record at `at`.
   * @param seconds its time since the start
   * @param bytes its payload from `from` to `to`
   */
  add(
    batch: FrameBatch,
    seconds: number,
    view: DataView,
    at: number,
    bytes: Uint8Array,
    from: number,
    to: number,
  ): number {
    if (batch.count >= batch.at.length) return NO_ROOM;
    const fields = this.#fields;
    const time = this.#start + seconds * 1000;
    if (!Number.isFinite(time)) return this.#leaveOut('the time is not a number');
    const bus = this.#busOf(fields.channel === undefined ? this.#bus : fields.channel(view, at));
    if (bus < 0) return this.#leaveOut('more than 256 buses');
    if (this.#event === 'ErrorFrame') return this.#added(append(batch, time, busError, bus, 0, none, 8));
    const raw = fields.id?.(view, at) ?? 0;
    // Bit 31 means an extended identifier, as does a separate channel.
    const id = identifier(raw & 0x1fff_ffff, raw >= 0x8000_0000 || fields.ide?.(view, at) === 1);
    const sent = fields.sent?.(view, at) === 1 ? SENT : 0;
    const length = this.length(view, at);
    if (this.#event === 'RemoteFrame') {
      const asked = fields.dlc?.(view, at) ?? length;
      return this.#added(append(batch, time, (id | REMOTE) >>> 0, bus, sent, none, Math.max(0, Math.min(8, asked))));
    }
    const payload = this.#copy(length, bytes, from, to);
    if (payload < 0) return LEFT_OUT;
    const fd = fields.fd === undefined ? payload > 8 : fields.fd(view, at) === 1;
    const bits =
      (fields.bitRateSwitch?.(view, at) === 1 ? BIT_RATE_SWITCH : 0) |
      (fields.errorState?.(view, at) === 1 ? ERROR_STATE : 0);
    return this.#added(append(batch, time, id, bus, sent | (fd ? FD | bits : 0), this.#payload, payload));
  }

  /** Copies the payload. Returns its length, or -1 if the length is invalid. */
  #copy(said: number, bytes: Uint8Array, from: number, to: number): number {
    const there = to - from;
    const length = said < 0 ? there : said;
    if (length > MAX_PAYLOAD_BYTES) return this.#wrong('a frame claims more than 64 bytes of data');
    if (length > there) return this.#wrong('a frame has fewer bytes than it says');
    for (let i = 0; i < length; i++) this.#payload[i] = bytes[from + i] as number;
    return length;
  }

  /** Returns the bus of a channel: channel n is the bus `can(n-1)`. */
  #busOf(channel: number): number {
    const number = Math.max(0, channel - 1);
    if (number > 256) return this.#recording.channel(number);
    const known = this.#buses[number] as number;
    if (known >= 0) return known;
    const bus = this.#recording.channel(number);
    this.#buses[number] = bus;
    return bus;
  }

  #added(done: boolean): number {
    return done ? ADDED : NO_ROOM;
  }

  #leaveOut(why: string): number {
    this.fault = why;
    return LEFT_OUT;
  }

  #wrong(why: string): number {
    this.fault = why;
    return -1;
  }
}
