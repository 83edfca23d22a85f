/**
 * Floats in their shortest exact form (RFC 8949 section 4.2.1): binary16, binary32 or binary64, the first that
 * represents the value exactly.
 */
const scratch = new DataView(new ArrayBuffer(8));

/** Returns the big-endian IEEE 754 bytes of the shortest format that represents `value` exactly. */
export function shortestFloat(value: number): Uint8Array {
  const half = halfBits(value);
  if (half !== undefined) return new Uint8Array([half >> 8, half & 0xff]);
  if (Object.is(Math.fround(value), value)) {
    scratch.setFloat32(0, value);
    return new Uint8Array(scratch.buffer.slice(0, 4));
  }
  scratch.setFloat64(0, value);
  return new Uint8Array(scratch.buffer.slice(0, 8));
}

/**
 * Returns the binary16 bits of `value`, or undefined if binary16 cannot represent it.
 *
 *     15 14     10 9              0
 *     s  exponent  fraction           (-1)^s * 2^(exponent-15) * 1.fraction; exponent 0: 2^-14 * 0.fraction
 */
function halfBits(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (size === Infinity) return sign | 0x7c00;
  if (size === 0) return sign;
  if (size < 2 ** -14) {
    const fraction = size * 2 ** 24;
    return Number.isInteger(fraction) ? sign | fraction : undefined;
  }
  if (size > 65504) return undefined;
  scratch.setFloat64(0, size);
  const exponent = (scratch.getUint16(0) >> 4) - 1023;
  const fraction = (size / 2 ** exponent - 1) * 1024;
  return Number.isInteger(fraction) ? sign | ((exponent + 15) << 10) | fraction : undefined;
}
