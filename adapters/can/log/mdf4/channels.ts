/** Channels of a record: the position of a value (ASAM MDF 4.1 §5.13), and functions that read it. */
import type { Block, Blocks } from './blocks.ts';

/** Supported kinds of channels (cn_type). */
export const VLSD = 1;
export const MASTER = 2;
export const MLSD = 5;
/** cn_sync_type of time. */
const TIME = 1;
/**
 * cn_data_type: unsigned and signed integers and floating-point numbers; even types are little endian, odd ones big
 * endian.
 */
const SIGNED_LITTLE = 2;
const SIGNED_BIG = 3;
const FLOAT_LITTLE = 4;
const FLOAT_BIG = 5;
/** cc_type of p1 + p2 · raw, and of a quotient of two polynomials of second degree. */
const LINEAR = 1;
const RATIONAL = 2;
const TWO_32 = 4_294_967_296;

export interface MdfChannel {
  readonly position: number;
  readonly name: string;
  readonly type: number;
  readonly isTime: boolean;
  readonly dataType: number;
  /** First bit of the value within `byte`, which counts from the end of the record's identifier, and number of bits. */
  readonly bit: number;
  readonly byte: number;
  readonly bits: number;
  /** Links to the channel's components, to its conversion, and to its bytes or their length if these are elsewhere. */
  readonly composition: number;
  readonly conversion: number;
  readonly data: number;
}

/** Reads the value of a channel in the record that begins at `at`. */
export type Read = (view: DataView, at: number) => number;

export async function channelOf(block: Block, blocks: Blocks): Promise<MdfChannel> {
  const { data, links, position } = block;
  const [, composition = 0, text = 0, , conversion = 0, linked = 0] = links;
  return {
    position,
    name: await blocks.text(text),
    type: data.getUint8(0),
    isTime: data.getUint8(1) === TIME,
    dataType: data.getUint8(2),
    bit: data.getUint8(3),
    byte: data.getUint32(4, true),
    bits: data.getUint32(8, true),
    composition,
    conversion,
    data: linked,
  };
}

/** Returns the number of bytes of a record that a channel needs. */
export function endOf({ byte, bit, bits }: MdfChannel): number {
  return byte + Math.ceil((bit + bits) / 8);
}

/**
 * Returns a reader of an unsigned integer of any width, exact up to 2^53; undefined if the channel is not an integer.
 */
export function unsignedReader({ byte, bit, bits, dataType }: MdfChannel): Read | undefined {
  if (dataType > SIGNED_BIG || bits === 0 || bits > 64 || bit > 7) return undefined;
  const size = Math.ceil((bit + bits) / 8);
  const little = dataType % 2 === 0;
  if (bits <= 32) {
    const mask = bits === 32 ? 0xffff_ffff : 2 ** bits - 1;
    if (size === 1) return (view, at) => (view.getUint8(at + byte) >>> bit) & mask;
    if (size === 2) return (view, at) => (view.getUint16(at + byte, little) >>> bit) & mask;
    if (size === 4) return (view, at) => ((view.getUint32(at + byte, little) >>> bit) & mask) >>> 0;
  }
  if (bits === 64 && bit === 0) {
    const [high, low] = little ? [byte + 4, byte] : [byte, byte + 4];
    return (view, at) => view.getUint32(at + high, little) * TWO_32 + view.getUint32(at + low, little);
  }
  const step = little ? -1 : 1;
  const first = little ? byte + size - 1 : byte;
  const [top, divisor] = [2 ** (bit + bits - 8 * (size - 1)), 2 ** bit];
  // The bits above the number are cut from the first byte, so that they take no room in a double.
  return (view, at) => {
    let value = view.getUint8(at + first) % top;
    for (let i = 1; i < size; i++) value = value * 256 + view.getUint8(at + first + step * i);
    return Math.floor(value / divisor);
  };
}

/** Returns a reader of a number of any kind and width; undefined if the channel is not numeric. */
function numberReader(channel: MdfChannel): Read | undefined {
  const { byte, bit, bits, dataType } = channel;
  const little = dataType % 2 === 0;
  if (dataType === FLOAT_LITTLE || dataType === FLOAT_BIG) {
    if (bit !== 0) return undefined;
    if (bits === 64) return (view, at) => view.getFloat64(at + byte, little);
    return bits === 32 ? (view, at) => view.getFloat32(at + byte, little) : undefined;
  }
  const unsigned = unsignedReader(channel);
  if (unsigned === undefined || dataType < SIGNED_LITTLE) return unsigned;
  const [limit, range] = [2 ** (bits - 1), 2 ** bits];
  return (view, at) => {
    const value = unsigned(view, at);
    return value < limit ? value : value - range;
  };
}

/** Returns a reader of an offset into signal data. */
export function offsetReader(channel: MdfChannel): Read | undefined {
  const isOffset =
    channel.dataType === 0 || channel.dataType === 10 || channel.dataType === 6 || channel.dataType === 7;
  return isOffset ? unsignedReader({ ...channel, dataType: 0 }) : undefined;
}

/** Returns a reader of the seconds of a time channel, or the reason why there is none. */
export async function secondsReader(channel: MdfChannel, blocks: Blocks): Promise<Read | string> {
  const { conversion, dataType, bits } = channel;
  const raw = numberReader(channel);
  if (raw === undefined) return `their time has ${bits} bits of the data type ${dataType}, which is not read`;
  if (conversion === 0) return raw;
  const { data } = await blocks.block(conversion, ['CC'], 4, 24);
  const type = data.getUint8(0);
  const p = Array.from({ length: Math.floor(Math.max(0, data.byteLength - 24) / 8) }, (_, i) =>
    data.getFloat64(24 + 8 * i, true),
  );
  if (type === 0) return raw;
  if (type === RATIONAL && p.length >= 6) return rational(raw, p);
  if (type !== LINEAR || p.length < 2) return `their time has a conversion of type ${type}, which is not read`;
  const [offset = 0, factor = 1] = p;
  // Nanoseconds are integers: dividing by an integer is exact, but multiplying by a fraction is not.
  const inverse = 1 / factor;
  if (offset === 0 && Math.abs(inverse - Math.round(inverse)) < 1e-6 && factor < 1) {
    const divisor = Math.round(inverse);
    return (view, at) => raw(view, at) / divisor;
  }
  return (view, at) => raw(view, at) * factor + offset;
}

function rational(raw: Read, [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0]: readonly number[]): Read {
  return (view, at) => {
    const x = raw(view, at);
    return (a * x * x + b * x + c) / (d * x * x + e * x + f);
  };
}
