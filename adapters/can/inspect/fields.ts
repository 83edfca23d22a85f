/** Finds the fields of an unknown message by how often its bits change. */
import type { BitField } from '../dbc/index.ts';
import { bitsOf } from '../dbc/index.ts';
import type { ObservedMessage } from './observed-message.ts';

/** Maximum width of a field in bits. A wider field is treated as two. */
const MAX_FIELD_BITS = 32;
/**
 * A bit that changes this many times less often than the bit above it begins another field: lower bits of a number
 * usually change more often.
 */
const DROP = 2;

/**
 * Returns the runs of changing bits, cut where a bit changes less than half as often as the one above it, in the byte
 * order with fewer fields, or little endian if both have as many.
 * @param taken known fields, such as counters, whose bits belong to no other field
 */
export function fieldsOf(observed: ObservedMessage, taken: readonly BitField[] = []): BitField[] {
  const flips = Array.from({ length: observed.longest * 8 }, (_, bit) => observed.flips[bit] ?? 0);
  for (const bit of taken.flatMap(bitsOf)) flips[bit] = 0;
  const little = cut(flips, downwards(observed.longest, 'little')).map((bits) => ({
    start: bits.at(-1) as number,
    length: bits.length,
    byteOrder: 'little' as const,
  }));
  const big = cut(flips, downwards(observed.longest, 'big')).map((bits) => ({
    start: bits[0] as number,
    length: bits.length,
    byteOrder: 'big' as const,
  }));
  return (big.length < little.length ? big : little).sort((a, b) => a.start - b.start);
}

/** Returns the bits of a payload, the most significant first. */
function downwards(bytes: number, order: BitField['byteOrder']): number[] {
  return Array.from({ length: bytes * 8 }, (_, i) => {
    const byte = order === 'big' ? i >> 3 : bytes - 1 - (i >> 3);
    return byte * 8 + 7 - (i & 7);
  });
}

function cut(flips: readonly number[], order: readonly number[]): number[][] {
  const fields: number[][] = [];
  let field: number[] = [];
  for (const bit of order) {
    const count = flips[bit] ?? 0;
    const above = field.length === 0 ? count : (flips[field.at(-1) as number] ?? 0);
    if (count === 0 || count * DROP < above || field.length === MAX_FIELD_BITS) field = [];
    if (count === 0) continue;
    if (field.length === 0) fields.push(field);
    field.push(bit);
  }
  return fields;
}
