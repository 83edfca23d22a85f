/**
 * Vector BLF according to Vector's public binlog header: a file header `LOGG`, then objects. Frames are in containers
 * (type 10), compressed with zlib or not. An object may begin in one container and end in a later one. Supported: CAN
 * message (1), CAN message 2 (86), FD message (100), FD message 64 (101), and, as error frames, CAN error (2), error
 * ext (73) and FD error 64 (104); others are counted by kind.
 * Channel n is the bus `can(n-1)`. Times count from the start date of the file header, read as UTC, or else from 0.
 */
import { constants, inflateSync } from 'node:zlib';
import { BIT_RATE_SWITCH, ERROR_STATE, FD, REMOTE, SENT } from '../../../agent/ports.ts';
import { blfObjectName } from './blf-names.ts';
import { largestObject, ObjectScanner, type ObjectVisitor } from './blf-objects.ts';
import { utc } from './dates.ts';
import { busError, identifier, type LogParser, type Recording } from './recording.ts';

const fileHeader = 144;
/** Largest file header in bytes. A file header contains its own size; a larger size means that it is not a header. */
const largestHeader = 4096;
const container = 10;
/** Largest unpacked size of a container in bytes. Vector's tools write 128 KiB. */
const largestContainer = 32 * 1024 * 1024;
const frameTypes: ReadonlySet<number> = new Set([1, 2, 73, 86, 100, 101, 104]);
/** Largest frame object in bytes: 40 + 40 + 64, and vendors' extensions. */
const largestFrame = 4096;

export class BlfParser implements LogParser {
  private readonly recording: Recording;
  private readonly outer: ObjectScanner;
  private readonly inner: ObjectScanner;
  private started = false;
  private start = 0;
  /** Unpacked containers, from the first unread byte. */
  private unpacked: Uint8Array = new Uint8Array(0);

  constructor(recording: Recording) {
    this.recording = recording;
    const fault = (message: string, reason?: string) => recording.fault(0, message, reason);
    const frames: ObjectVisitor = {
      limit: (type) => (frameTypes.has(type) ? largestFrame : 0),
      visit: (view, at, size, type) => this.frame(view, at, size, type),
      passed: (type) => recording.passOver(blfObjectName(type)),
      get full() {
        return recording.full;
      },
      fault,
    };
    this.inner = new ObjectScanner(frames);
    this.outer = new ObjectScanner({
      limit: (type) => (type === container ? largestObject : frames.limit(type)),
      visit: (view, at, size, type) => {
        if (type === container) this.unpack(view, at, size);
        else this.frame(view, at, size, type);
      },
      passed: frames.passed,
      get full() {
        return recording.full;
      },
      fault,
    });
  }

  parse(bytes: Uint8Array, from: number, end: number, last: boolean): number {
    let pos = from;
    if (!this.started) {
      const view = new DataView(bytes.buffer, bytes.byteOffset + from, end - from);
      if (view.byteLength < headerSize(view) && !last) return from;
      pos += this.header(view);
      this.started = true;
    }
    this.drain();
    pos = this.outer.scan(bytes, pos, end, last);
    if (last && pos === end && this.unpacked.length > 3 && !this.recording.full) {
      this.recording.fault(0, 'the last container ends within an object');
      this.unpacked = this.unpacked.subarray(this.unpacked.length);
    }
    return pos;
  }

  /** Reads the start date from the file header. Returns the size of the header in bytes. */
  private header(view: DataView): number {
    if (view.byteLength < fileHeader) {
      this.recording.fault(0, 'the file ends within its header');
      return view.byteLength;
    }
    const [year = 0, month = 0, , day = 0, hour = 0, minute = 0, second = 0, milli = 0] = Array.from(
      { length: 8 },
      (_, i) => view.getUint16(40 + 2 * i, true),
    );
    const at = utc(year, month, day, hour, minute, second) + milli;
    if (!Number.isNaN(at)) this.start = at;
    else if (year !== 0) this.recording.fault(0, 'the start date in the file header is not a date');
    const size = headerSize(view);
    return size <= view.byteLength ? size : fileHeader;
  }

  private drain(): void {
    const { unpacked } = this;
    this.unpacked = unpacked.subarray(this.inner.scan(unpacked, 0, unpacked.length, false));
  }

  /** Unpacks a container: compression method (16 bit) at 16, packed bytes from 32. */
  private unpack(view: DataView, at: number, size: number): void {
    if (size <= 32) return;
    const packed = new Uint8Array(view.buffer, view.byteOffset + at + 32, size - 32);
    const method = view.getUint16(at + 16, true);
    let plain: Uint8Array;
    if (method === 0) plain = packed;
    else if (method === 2) {
      try {
        // Unpack a truncated container up to its end.
        plain = inflateSync(packed, { maxOutputLength: largestContainer, finishFlush: constants.Z_SYNC_FLUSH });
      } catch (error) {
        const message = `a container cannot be unpacked: ${error instanceof Error ? error.message : error}`;
        this.recording.fault(0, message, 'a container cannot be unpacked');
        return;
      }
    } else {
      const reason = 'a container has an unknown compression method';
      this.recording.fault(0, `${reason}: ${method}`, reason);
      return;
    }
    const joined = new Uint8Array(this.unpacked.length + plain.length);
    joined.set(this.unpacked);
    joined.set(plain, this.unpacked.length);
    this.unpacked = joined;
    this.drain();
  }

  /**
   * Reads a frame. Header of version 1 or 2: flags at 16 (1: time in 10 µs, else in ns), time (64 bit) at 24. The
   * frame follows the header. The size of the header is at 4.
   */
  private frame(view: DataView, at: number, size: number, type: number): void {
    const header = view.getUint16(at + 4, true);
    if (header < 32 || header >= size) {
      this.recording.fault(0, `an object of type ${type} is incomplete`);
      return;
    }
    const ticks = view.getUint32(at + 28, true) * 4_294_967_296 + view.getUint32(at + 24, true);
    const time = this.start + (view.getUint32(at + 16, true) === 1 ? ticks / 100 : ticks / 1_000_000);
    const body = new DataView(view.buffer, view.byteOffset + at + header, size - header);
    const wrong =
      type === 1 || type === 86
        ? this.classic(body, time)
        : type === 100
          ? this.fd(body, time)
          : type === 101
            ? this.fd64(body, time, header)
            : this.error(body, time, type);
    if (wrong !== undefined) this.recording.fault(0, `an object of type ${type} ${wrong}`);
  }

  /** Reads channel (16), flags (8: 1 sent, 0x80 remote), length code (8), identifier (32), 8 data bytes. */
  private classic(body: DataView, time: number): string | undefined {
    if (body.byteLength < 16) return 'is incomplete';
    const flags = body.getUint8(2);
    const length = Math.min(8, body.getUint8(3));
    return this.add(body, time, body.getUint16(0, true), body.getUint32(4, true), {
      remote: (flags & 0x80) !== 0,
      flags: (flags & 1) !== 0 ? SENT : 0,
      length,
      data: 8,
      given: length,
    });
  }

  /** As classic, then frame length (32), bit count (8), FD flags (8: FD, switch, state), bytes (8), 5, data (64 B). */
  private fd(body: DataView, time: number): string | undefined {
    if (body.byteLength < 20) return 'is incomplete';
    const flags = body.getUint8(2);
    const bits = body.getUint8(13) & 7;
    const fd = (bits & 1) !== 0;
    const length = body.getUint8(14);
    if (length > (fd ? 64 : 8)) return `claims ${length} bytes of data`;
    return this.add(body, time, body.getUint16(0, true), body.getUint32(4, true), {
      remote: (flags & 0x80) !== 0 && !fd,
      flags: ((flags & 1) !== 0 ? SENT : 0) | (fd ? fdFlags((bits & 2) !== 0, (bits & 4) !== 0) : 0),
      length,
      data: 20,
      given: Math.min(length, body.byteLength - 20),
    });
  }

  /**
   * Reads channel (8), length code (8), bytes (8), count (8), identifier (32), 4, flags (32: 0x10 remote, 0x1000 FD,
   * 0x2000 switch, 0x4000 state), …, sent (8) at 34, offset of an extension from the object's start (8) at 35, data
   * from 40.
   * Trailing bytes that the object omits are 0.
   */
  private fd64(body: DataView, time: number, header: number): string | undefined {
    if (body.byteLength < 40) return 'is incomplete';
    const bits = body.getUint32(12, true);
    const fd = (bits & 0x1000) !== 0;
    const length = body.getUint8(2);
    if (length > (fd ? 64 : 8)) return `claims ${length} bytes of data`;
    const extension = body.getUint8(35) - header;
    const stop = extension >= 40 && extension <= body.byteLength ? extension : body.byteLength;
    return this.add(body, time, body.getUint8(0), body.getUint32(4, true), {
      remote: (bits & 0x10) !== 0 && !fd,
      flags: (body.getUint8(34) !== 0 ? SENT : 0) | (fd ? fdFlags((bits & 0x2000) !== 0, (bits & 0x4000) !== 0) : 0),
      length,
      data: 40,
      given: Math.min(length, stop - 40),
    });
  }

  private error(body: DataView, time: number, type: number): string | undefined {
    const bus = this.bus(type === 104 ? body.getUint8(0) : body.byteLength < 2 ? 0 : body.getUint16(0, true));
    if (bus < 0) return 'is on the 257th bus';
    this.recording.addEmpty(time, busError, bus, 0, 8);
    return undefined;
  }

  private add(body: DataView, time: number, channel: number, rawId: number, frame: FrameBody): string | undefined {
    const { recording } = this;
    // Bit 31 identifies an extended identifier, as in SocketCAN.
    const id = identifier(rawId & 0x1fff_ffff, rawId >= 0x8000_0000);
    const bus = this.bus(channel);
    if (bus < 0) return 'is on the 257th bus';
    if (frame.remote) {
      recording.addEmpty(time, (id | REMOTE) >>> 0, bus, frame.flags, Math.min(8, frame.length));
      return undefined;
    }
    for (let i = 0; i < frame.length; i++) {
      recording.payload[i] = i < frame.given ? body.getUint8(frame.data + i) : 0;
    }
    recording.add(time, id, bus, frame.flags, frame.length);
    return undefined;
  }

  private bus(channel: number): number {
    return this.recording.channel(Math.max(0, channel - 1));
  }
}

/** Returns the size of the file header in bytes, from the bytes read so far. */
function headerSize(view: DataView): number {
  const size = view.byteLength < 8 ? fileHeader : view.getUint32(4, true);
  return size >= fileHeader && size <= largestHeader ? size : fileHeader;
}

interface FrameBody {
  readonly remote: boolean;
  readonly flags: number;
  /** Payload length in bytes. */
  readonly length: number;
  /** Offset of the payload in the object's body, and number of its bytes that exist. */
  readonly data: number;
  readonly given: number;
}

function fdFlags(bitRateSwitch: boolean, errorState: boolean): number {
  return FD | (bitRateSwitch ? BIT_RATE_SWITCH : 0) | (errorState ? ERROR_STATE : 0);
}
