/** Channels of a record: where a value lies in it (ASAM MDF 4.1 §5.13), and functions that read it. */
import { type Block, type Blocks, number64 } from './blocks.ts';

/** Kinds of channels (cn_type) that matter here. */
export const VLSD = 1;
export const MASTER = 2;
export const MLSD = 5;
/** cn_sync_type of time. */
const TIME = 1;
/** cn_data_type: numbers without and with sign, with fractions; even is little endian, odd big endian. */
const FLOAT_LITTLE = 4;
const FLOAT_BIG = 5;
/** cc_type of p1 + p2 · raw. */
const LINEAR = 1;

export interface MdfChannel {
  readonly position: number;
  readonly name: string;
  readonly type: number;
  readonly isTime: boolean;
  readonly dataType: number;
  /** The first bit, and their count; bytes count from behind the record's identifier. */
  readonly bit: number;
  readonly byte: number;
  readonly bits: number;
  /** Links to the channels it is composed of, its conversion, and its bytes or its length elsewhere. */
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

/** Bytes of a record that a channel needs. */
export function endOf({ byte, bit, bits }: MdfChannel): number {
  return byte + Math.ceil((bit + bits) / 8);
}

/** Reads an unsigned number of at most 32 bits; undefined when the channel is none. */
export function unsignedReader(channel: MdfChannel): Read | undefined {
  const { byte, bit, bits, dataType } = channel;
  const size = Math.ceil((bit + bits) / 8);
  if (dataType > 3 || bits === 0 || bits > 32 || bit > 7) return undefined;
  const mask = bits === 32 ? 0xffff_ffff : 2 ** bits - 1;
  const little = dataType % 2 === 0;
  if (size === 1) return (view, at) => (view.getUint8(at + byte) >>> bit) & mask;
  if (size === 2) return (view, at) => (view.getUint16(at + byte, little) >>> bit) & mask;
  if (size === 4) return (view, at) => ((view.getUint32(at + byte, little) >>> bit) & mask) >>> 0;
  const divisor = 2 ** bit;
  const modulus = 2 ** bits;
  return (view, at) => {
    let value = 0;
    for (let i = 0; i < size; i++) value = value * 256 + view.getUint8(at + byte + (little ? size - 1 - i : i));
    return Math.floor(value / divisor) % modulus;
  };
}

/** Reads an offset into signal data. */
export function offsetReader({ byte, bits, dataType }: MdfChannel): Read | undefined {
  if (dataType !== 0 && dataType !== 10 && dataType !== 6 && dataType !== 7) return undefined;
  if (bits === 64) return (view, at) => number64(view, at + byte);
  return bits === 32 ? (view, at) => view.getUint32(at + byte, true) : undefined;
}

/** Seconds of a time channel that is a number of whole bytes; undefined when it is none. */
export async function secondsReader(channel: MdfChannel, blocks: Blocks): Promise<Read | undefined> {
  const raw = numberReader(channel);
  if (raw === undefined || channel.conversion === 0) return raw;
  const { data } = await blocks.block(channel.conversion, ['CC'], 4, 24);
  if (data.getUint8(0) === 0) return raw;
  if (data.getUint8(0) !== LINEAR || data.byteLength < 40) return undefined;
  const offset = data.getFloat64(24, true);
  const factor = data.getFloat64(32, true);
  // Nanoseconds are whole numbers: a division by a whole number is exact where a product is not.
  const inverse = 1 / factor;
  if (offset === 0 && Math.abs(inverse - Math.round(inverse)) < 1e-6 && factor < 1) {
    const divisor = Math.round(inverse);
    return (view, at) => raw(view, at) / divisor;
  }
  return (view, at) => raw(view, at) * factor + offset;
}

function numberReader({ byte, bit, bits, dataType }: MdfChannel): Read | undefined {
  const little = dataType % 2 === 0;
  if (bit !== 0 || dataType > FLOAT_BIG) return undefined;
  if (dataType === FLOAT_LITTLE || dataType === FLOAT_BIG) {
    if (bits === 64) return (view, at) => view.getFloat64(at + byte, little);
    return bits === 32 ? (view, at) => view.getFloat32(at + byte, little) : undefined;
  }
  if (bits === 64) {
    return (view, at) =>
      view.getUint32(at + byte + (little ? 4 : 0), little) * 4_294_967_296 +
      view.getUint32(at + byte + (little ? 0 : 4), little);
  }
  if (bits === 32) return (view, at) => view.getUint32(at + byte, little);
  if (bits === 16) return (view, at) => view.getUint16(at + byte, little);
  return bits === 8 ? (view, at) => view.getUint8(at + byte) : undefined;
}
