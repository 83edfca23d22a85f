/**
 * Logs of CANServer, an adapter for Tesla cars, after 22 bytes `CANSERVER_v2_CANSERVER` or `CANSERVER_v3_CANSERVER`.
 * Concatenated files repeat these bytes. Little-endian:
 *
 *     v2  v3
 *     CD  D0  length, text of a mark
 *     CE  A0  time in µs, 64 bits, the base of the frames' times
 *     CF      milliseconds (16), identifier (16), bus and length (4 bits each), data
 *         Bx  microseconds: x, 8, 8 and 5 bits; identifier: 3 and 8 bits; bus and length (4 bits each), data
 *
 * There are no extended identifiers. Bus n is `can(n)`.
 */
import type { LogParser, Recording } from './recording.ts';

const SIGNATURE = /^CANSERVER_v([23])_CANSERVER/;
const SIGNATURE_SIZE = 22;
const C = 0x43;
const TWO_32 = 4_294_967_296;

/** Returns the version of the format from the signature at the start of the text. */
function canServerVersion(text: string): 2 | 3 | undefined {
  const version = SIGNATURE.exec(text)?.[1];
  return version === undefined ? undefined : version === '2' ? 2 : 3;
}

export class CanServerParser implements LogParser {
  readonly #recording: Recording;
  #version: 2 | 3;
  /** Base of the frames' times in ms. */
  #base = 0;
  /** Number of bytes of the file before those being parsed. */
  #position = 0;
  /** True if the last bytes were not a record. */
  #lost = false;

  /** @param begun first bytes of the file, as Latin-1 */
  constructor(recording: Recording, begun: string) {
    this.#recording = recording;
    this.#version = canServerVersion(begun) ?? 3;
  }

  parse(bytes: Uint8Array, from: number, end: number, last: boolean): number {
    const recording = this.#recording;
    let pos = from;
    while (!recording.full && pos < end) {
      const size = this.#record(bytes, pos, end, this.#position + pos - from);
      if (size === 0) {
        if (!last) break;
        recording.passOver('last records that are cut');
        pos = end;
      }
      pos += size;
    }
    this.#position += pos - from;
    return pos;
  }

  /** Reads the record at `pos`. Returns its size, or 0 if it is incomplete. */
  #record(bytes: Uint8Array, pos: number, end: number, at: number): number {
    const recording = this.#recording;
    const there = end - pos;
    const kind = bytes[pos] as number;
    const second = this.#version === 2;
    if (kind === C) return this.#signature(bytes, pos, there, at);
    if (kind === (second ? 0xcd : 0xd0)) {
      const size = there < 2 ? 2 : 2 + (bytes[pos + 1] as number);
      if (there < size) return 0;
      recording.passOver('marks');
      return this.#found(size);
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (kind === (second ? 0xce : 0xa0)) {
      if (there < 9) return 0;
      this.#base = (view.getUint32(pos + 5, true) * TWO_32 + view.getUint32(pos + 1, true)) / 1000;
      return this.#found(9);
    }
    if (second ? kind !== 0xcf : (kind & 0xf0) !== 0xb0) return this.#lose(at);
    if (there < 6) return 0;
    const length = (bytes[pos + 5] as number) & 15;
    if (length > 8) return this.#lose(at);
    if (there < 6 + length) return 0;
    const offset = second ? view.getUint16(pos + 1, true) : microseconds(bytes, pos) / 1000;
    const id = second
      ? view.getUint16(pos + 3, true)
      : (((bytes[pos + 3] as number) & 7) << 8) | (bytes[pos + 4] as number);
    if (id > 0x7ff) return this.#lose(at);
    recording.payload.set(bytes.subarray(pos + 6, pos + 6 + length));
    recording.add(this.#base + offset, id, recording.channel((bytes[pos + 5] as number) >> 4), 0, length);
    return this.#found(6 + length);
  }

  #signature(bytes: Uint8Array, pos: number, there: number, at: number): number {
    const size = Math.min(there, SIGNATURE_SIZE);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + pos, size).toString('latin1');
    if (size < SIGNATURE_SIZE && ['2', '3'].some((v) => `CANSERVER_v${v}_CANSERVER`.startsWith(text))) return 0;
    const version = canServerVersion(text);
    if (version === undefined) return this.#lose(at);
    this.#version = version;
    return this.#found(SIGNATURE_SIZE);
  }

  #found(size: number): number {
    this.#lost = false;
    return size;
  }

  /** Skips one byte. Reports a fault only for the first of several bytes that are not records. */
  #lose(at: number): number {
    const reason = 'bytes that are not records';
    if (!this.#lost) this.#recording.fault(0, `${reason}, from byte ${at} on`, reason);
    this.#lost = true;
    return 1;
  }
}

/** Returns the number in 4, 8, 8 and 5 bits, the lowest first. */
function microseconds(bytes: Uint8Array, pos: number): number {
  const [x, low, middle, high] = bytes.subarray(pos, pos + 4) as unknown as [number, number, number, number];
  return (x & 15) | (low << 4) | (middle << 12) | ((high >> 3) << 20);
}
