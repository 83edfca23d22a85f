import { hexOf } from './hex.ts';

/**
 * Position and format of a value in an answer, as in OBDb signal sets (`signalsets/v3`). Bits are counted from the
 * first data byte after the echoed PID or DID, most significant bit first:
 *
 *     byte        0                 1
 *     bix   0 1 2 3 4 5 6 7   8 9 10 11 12 13 14 15
 *                 └── bix 4, len 8 ──┘
 */
export interface SignalFormat {
  /** Bit index of the value's first bit. */
  readonly bix: number;
  /** Length in bits, 1..{@link LONGEST_FIELD}. */
  readonly len: number;
  /** True if the value's bytes are in little-endian order. */
  readonly blsb: boolean;
  /** True for two's complement. */
  readonly sign: boolean;
  readonly mul: number;
  readonly div: number;
  readonly add: number;
  /** Limits to which the value is clamped. If `min` is omitted but `max` is not, `min` is 0. */
  readonly min?: number;
  readonly max?: number;
  /** Limits of validity: no value at or below `nullmin`, or at or above `nullmax` (physical, before clamping). */
  readonly nullmin?: number;
  readonly nullmax?: number;
  readonly unit?: string;
  /** Names of raw values. */
  readonly map?: ReadonlyMap<string, string>;
}

/** Decoded value of a signal. Integers above 2^53 and text are strings. */
export type ObdValue = number | string;

/** Decodes the data of one answer; `null`: the format defines this as no value; undefined: the data is too short. */
export type FieldReader = (data: Uint8Array) => ObdValue | null | undefined;

/** Longest field of a signal set in bits: an ISO-TP message of 4095 bytes. */
export const LONGEST_FIELD = 4095 * 8;

/** Returns the reader of a format, so that the conversion is chosen once, when the signal set is loaded. */
export function fieldReader(format: SignalFormat): FieldReader {
  const read = format.len <= 48 ? narrow(format) : wide(format);
  const end = Math.ceil((format.bix + format.len) / 8);
  if (format.map !== undefined) {
    const names = format.map;
    return (data) => {
      if (data.length < end) return undefined;
      const raw = read(data);
      return names.get(String(raw)) ?? exact(raw);
    };
  }
  if (format.unit === 'ascii' && format.len % 8 === 0) {
    return (data) => (data.length < end ? undefined : asciiText(fieldBytes(format, data)));
  }
  const convert = scaling(format);
  return (data) => (data.length < end ? undefined : convert(read(data)));
}

type Raw = number | bigint;

function scaling(format: SignalFormat): (raw: Raw) => ObdValue | null {
  const { mul, div, add, nullmin, nullmax } = format;
  const upper = format.max ?? Number.POSITIVE_INFINITY;
  const lower = format.min ?? (format.max === undefined ? Number.NEGATIVE_INFINITY : 0);
  // Equal or swapped bounds have no meaning.
  const clamps = upper > lower;
  const plain = mul === 1 && div === 1 && add === 0;
  return (raw) => {
    const value = (Number(raw) * mul) / div + add;
    if (nullmin !== undefined && value <= nullmin) return null;
    if (nullmax !== undefined && value >= nullmax) return null;
    if (clamps && value < lower) return lower;
    if (clamps && value > upper) return upper;
    if (!Number.isFinite(value)) return null;
    return plain ? exact(raw) : value;
  };
}

/** Returns the integer as a number, or as text if a double cannot represent it exactly. */
function exact(raw: Raw): ObdValue {
  const value = Number(raw);
  return Number.isSafeInteger(value) ? value : String(raw);
}

/** Reads fields of up to 48 bits, which span at most 7 bytes, without BigInt. */
function narrow(format: SignalFormat): (data: Uint8Array) => number {
  const { bix, len, sign } = format;
  const first = bix >> 3;
  const last = (bix + len - 1) >> 3;
  const span = 2 ** len;
  /** Weight of the field's last bit in the last byte. */
  const weight = 2 ** (8 * (last + 1) - bix - len);
  const at = byteOrder(format);
  return (data) => {
    let value = 0;
    for (let i = first; i < last; i++) value = value * 256 + (data[at(i)] as number);
    // Remove the bits before the field before adding the last byte: 56 bits do not fit the 53 of a double.
    value = ((value % ((span * weight) / 256)) * 256) / weight + Math.floor((data[at(last)] as number) / weight);
    value %= span;
    return sign && value >= span / 2 ? value - span : value;
  };
}

function wide(format: SignalFormat): (data: Uint8Array) => bigint {
  const { bix, len, sign } = format;
  const last = (bix + len - 1) >> 3;
  const drop = BigInt(8 * (last + 1) - bix - len);
  return (data) => {
    const value = BigInt.asUintN(len, BigInt(`0x${hexOf(orderedBytes(format, data))}`) >> drop);
    return sign ? BigInt.asIntN(len, value) : value;
  };
}

/** Returns the byte order. With `blsb`, the whole bytes of the field's length are reversed, from its first byte on. */
function byteOrder(format: SignalFormat): (index: number) => number {
  const first = format.bix >> 3;
  const count = Math.ceil(format.len / 8);
  if (!format.blsb || count < 2) return (index) => index;
  return (index) => (index < first + count ? 2 * first + count - 1 - index : index);
}

function orderedBytes(format: SignalFormat, data: Uint8Array): Uint8Array {
  const first = format.bix >> 3;
  const last = (format.bix + format.len - 1) >> 3;
  const at = byteOrder(format);
  const bytes = new Uint8Array(last - first + 1);
  for (let i = first; i <= last; i++) bytes[i - first] = data[at(i)] as number;
  return bytes;
}

function fieldBytes(format: SignalFormat, data: Uint8Array): Uint8Array {
  const bytes = orderedBytes(format, data);
  const shift = format.bix & 7;
  if (shift === 0) return bytes;
  const shifted = new Uint8Array(format.len / 8);
  for (let i = 0; i < shifted.length; i++) {
    shifted[i] = (((bytes[i] as number) << shift) | ((bytes[i + 1] as number) >> (8 - shift))) & 0xff;
  }
  return shifted;
}

/** Decodes printable ASCII; omits padding (00, FF, spaces at the ends) and replaces anything else with `.`. */
export function asciiText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    if (byte === 0x00 || byte === 0xff) continue;
    text += byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.';
  }
  return text.trim();
}
