/**
 * Reads CBOR data items for tests, written from RFC 8949 and independent of the product: returns the content of a byte
 * sequence, and whether its encoding is deterministic (section 4.2.1).
 */
export type Item =
  | { readonly type: 'integer'; readonly value: bigint }
  | { readonly type: 'bytes'; readonly value: Uint8Array }
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'array'; readonly entries: readonly Item[] }
  | { readonly type: 'map'; readonly entries: readonly (readonly [Item, Item])[] }
  | { readonly type: 'tag'; readonly number: bigint; readonly content: Item }
  | { readonly type: 'simple'; readonly value: number }
  | { readonly type: 'float'; readonly value: number; readonly size: 2 | 4 | 8 };

export interface Read {
  readonly item: Item;
  /** Deviations from the deterministic encoding. */
  readonly departures: readonly string[];
}

/** Reads `bytes` as one data item; throws an Error if they are not well-formed. */
export function readItem(bytes: Uint8Array): Read {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const departures: string[] = [];
  let at = 0;

  function item(): Item {
    const start = at;
    const first = view.getUint8(at++);
    const major = first >> 5;
    const info = first & 31;
    if (major === 7) return simpleOrFloat(info, start);
    const argument = argumentOf(info, start);
    const count = Number(argument);
    switch (major) {
      case 0:
        return { type: 'integer', value: argument };
      case 1:
        return { type: 'integer', value: -1n - argument };
      case 2:
        return { type: 'bytes', value: take(count) };
      case 3:
        return { type: 'text', value: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(take(count)) };
      case 4: {
        const entries: Item[] = [];
        for (let i = 0; i < count; i++) entries.push(item());
        return { type: 'array', entries };
      }
      case 5:
        return map(count, start);
      default:
        return { type: 'tag', number: argument, content: item() };
    }
  }

  function argumentOf(info: number, start: number): bigint {
    if (info < 24) return BigInt(info);
    const [value, least, size] =
      info === 24
        ? [BigInt(view.getUint8(at)), 24n, 1]
        : info === 25
          ? [BigInt(view.getUint16(at)), 0x100n, 2]
          : info === 26
            ? [BigInt(view.getUint32(at)), 0x1_0000n, 4]
            : info === 27
              ? [view.getBigUint64(at), 0x1_0000_0000n, 8]
              : [undefined, 0n, 0];
    if (value === undefined) throw new Error(`additional information ${info} at ${start}`);
    at += size;
    if (value < least) departures.push(`argument ${value} in ${size} bytes at ${start}`);
    return value;
  }

  function map(count: number, start: number): Item {
    const entries: [Item, Item][] = [];
    let previous: Uint8Array | undefined;
    for (let i = 0; i < count; i++) {
      const from = at;
      const key = item();
      const encoded = bytes.subarray(from, at);
      if (previous !== undefined && compare(previous, encoded) >= 0)
        departures.push(`map keys out of order at ${start}`);
      previous = encoded;
      entries.push([key, item()]);
    }
    return { type: 'map', entries };
  }

  function simpleOrFloat(info: number, start: number): Item {
    if (info < 24) return { type: 'simple', value: info };
    if (info === 24) {
      const value = view.getUint8(at++);
      if (value < 32) throw new Error(`simple value ${value} in two bytes at ${start}`);
      return { type: 'simple', value };
    }
    if (info === 25) {
      at += 2;
      return { type: 'float', value: half(view.getUint16(at - 2)), size: 2 };
    }
    if (info === 26) {
      const value = view.getFloat32(at);
      at += 4;
      if (fitsHalf(value)) departures.push(`float ${value} in 4 bytes at ${start}`);
      return { type: 'float', value, size: 4 };
    }
    if (info === 27) {
      const value = view.getFloat64(at);
      at += 8;
      if (Object.is(Math.fround(value), value)) departures.push(`float ${value} in 8 bytes at ${start}`);
      return { type: 'float', value, size: 8 };
    }
    throw new Error(`additional information ${info} at ${start}`);
  }

  function take(length: number): Uint8Array {
    if (length > bytes.length - at) throw new Error(`string of ${length} bytes at ${at} goes past the end`);
    at += length;
    return bytes.slice(at - length, at);
  }

  const result = item();
  if (at !== bytes.length) throw new Error(`${bytes.length - at} bytes after the item`);
  return { item: result, departures };
}

/** Converts a half-precision float (RFC 8949 appendix D). */
export function half(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent < 31
        ? (fraction + 1024) * 2 ** (exponent - 25)
        : fraction === 0
          ? Infinity
          : Number.NaN;
  return bits & 0x8000 ? -size : size;
}

const halves = new Set(Array.from({ length: 0x10000 }, (_, bits) => half(bits)));

function fitsHalf(value: number): boolean {
  return halves.has(value);
}

function compare(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}
