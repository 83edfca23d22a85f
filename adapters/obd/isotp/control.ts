/** Protocol control information and the arithmetic of segments (ISO 15765-2:2016 §9.6). */

/** Protocol control information of a frame, after the address byte of extended addressing. */
export type Control =
  /** A whole message: `data.subarray(begin, begin + length)`. */
  | { readonly kind: 'single'; readonly begin: number; readonly length: number }
  /** Start of a message of `length` bytes; its first bytes are from `begin` to the end of the frame. */
  | { readonly kind: 'first'; readonly begin: number; readonly length: number }
  /** Next part of a message, from byte 1 on; `index` is the sequence number, 0..15. */
  | { readonly kind: 'consecutive'; readonly index: number }
  /** `separation`: minimum time in ms between two consecutive frames. `blockSize` 0: all remaining frames. */
  | {
      readonly kind: 'flow';
      readonly status: 'continue' | 'wait' | 'overflow' | 'reserved';
      readonly blockSize: number;
      readonly separation: number;
    };

/** Bytes of a frame of classic CAN. */
export const CLASSIC = 8;

/** Longest message in bytes whose length fits in the 12 bits of a first frame (§9.6.3.1). */
const LONGEST_SHORT = 0xfff;

/**
 * Parses the control information. Undefined if the standard requires ignoring the frame: unknown types, and lengths
 * that no frame of this size can have.
 * @param address bytes of the address in the frame: 1 with extended addressing, else 0
 */
export function readControl(data: Uint8Array, address: 0 | 1): Control | undefined {
  const [control, second = 0, third = 0] = data;
  if (control === undefined) return undefined;
  const classic = data.length + address <= CLASSIC;
  switch (control >> 4) {
    case 0: {
      // Length 0 is the escape of CAN FD: the length is in the next byte (§9.6.2.1).
      if ((control & 15) === 0 && classic) return undefined;
      if ((control & 15) !== 0 && !classic) return undefined;
      const [begin, length] = classic ? [1, control & 15] : [2, second];
      return length === 0 || begin + length > data.length ? undefined : { kind: 'single', begin, length };
    }
    case 1: {
      const short = ((control & 15) << 8) | second;
      const begin = short === 0 ? 6 : 2;
      if (data.length + address < CLASSIC) return undefined;
      const length = short === 0 ? new DataView(data.buffer, data.byteOffset).getUint32(2) : short;
      // A message that fits in this frame, or a length that needs no escape, is not a first frame (§9.6.3.2).
      if (length <= data.length - 2 || (short === 0 && length <= LONGEST_SHORT)) return undefined;
      return { kind: 'first', begin, length };
    }
    case 2:
      return { kind: 'consecutive', index: control & 15 };
    case 3: {
      if (data.length < 3) return undefined;
      const status = (['continue', 'wait', 'overflow'] as const)[control & 15] ?? 'reserved';
      return { kind: 'flow', status, blockSize: second, separation: separationTime(third) };
    }
    default:
      return undefined;
  }
}

/** Returns STmin in ms: 00..7F are ms, F1..F9 steps of 100 µs; reserved values count as the longest (§9.6.5.4). */
function separationTime(byte: number): number {
  if (byte >= 0xf1 && byte <= 0xf9) return (byte - 0xf0) / 10;
  return Math.min(byte, 0x7f);
}

/** Encodes STmin of at least `ms`, 0..127. */
function separationByte(ms: number): number {
  const tenths = Math.ceil(ms * 10);
  if (tenths > 0 && tenths < 10) return 0xf0 + tenths;
  return Math.min(Math.ceil(ms), 0x7f);
}

/** Builds a single frame; undefined if the message is too long for it. `room`: bytes of a frame after the address. */
export function singleFrame(payload: Uint8Array, room: number, address: 0 | 1): Uint8Array | undefined {
  if (payload.length < CLASSIC - address) return withControl([payload.length], payload);
  return payload.length <= room - 2 && room + address > CLASSIC ? withControl([0, payload.length], payload) : undefined;
}

/** Builds the first frame of a message that does not fit in a single frame. */
export function firstFrame(payload: Uint8Array, room: number): Uint8Array {
  const { length } = payload;
  const control =
    length <= LONGEST_SHORT
      ? [0x10 | (length >> 8), length & 0xff]
      : [0x10, 0, length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff];
  return withControl(control, payload.subarray(0, room - control.length));
}

/** Returns the number of message bytes in {@link firstFrame}. */
export function firstFrameBytes(length: number, room: number): number {
  return room - (length <= LONGEST_SHORT ? 2 : 6);
}

/** Builds the consecutive frame that begins at byte `from` of the message. */
export function consecutiveFrame(payload: Uint8Array, from: number, index: number, room: number): Uint8Array {
  return withControl([0x20 | index], payload.subarray(from, from + room - 1));
}

const STATUS = { continue: 0, wait: 1, overflow: 2 } as const;

/** @param separation STmin, 0..127 ms */
export function flowFrame(status: keyof typeof STATUS, blockSize: number, separation: number): Uint8Array {
  return Uint8Array.of(0x30 | STATUS[status], blockSize, separationByte(separation));
}

function withControl(control: readonly number[], data: Uint8Array): Uint8Array {
  const frame = new Uint8Array(control.length + data.length);
  frame.set(control);
  frame.set(data, control.length);
  return frame;
}

/** Payload lengths of CAN FD frames above 8 bytes (ISO 11898-1:2015 Table 5). */
const FD_LENGTHS = [12, 16, 20, 24, 32, 48, 64] as const;

/**
 * Prepends the address byte and pads the frame: to 8 bytes if `padding` is given, and above 8 bytes to the next length
 * of CAN FD.
 */
export function padded(data: Uint8Array, address: number | undefined, padding: number | undefined): Uint8Array {
  const used = data.length + (address === undefined ? 0 : 1);
  const whole =
    used <= CLASSIC ? (padding === undefined ? used : CLASSIC) : (FD_LENGTHS.find((length) => length >= used) ?? used);
  const frame = new Uint8Array(whole).fill(padding ?? DEFAULT_PADDING);
  frame.set(data, used - data.length);
  if (address !== undefined) frame[0] = address;
  return frame;
}

/** Alternating pairs of bits, so that the controller need not insert stuff bits (recommended by §10.4.2.1). */
export const DEFAULT_PADDING = 0xcc;
