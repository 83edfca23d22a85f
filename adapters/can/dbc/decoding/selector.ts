import type { Signal } from '../database.ts';
import { bitsOf } from '../layout.ts';

/**
 * Position of a multiplexor: its raw value is `(word >>> shift) & mask`, with the first eight bytes as Intel-order
 * words.
 */
export interface Selector {
  readonly word: number;
  readonly shift: number;
  readonly mask: number;
}

/** A multiplexor with more bits has too many values for one table entry each. */
const mostBits = 8;

/**
 * Returns the single multiplexor that selects others of these signals. Undefined if there are several, if it is
 * selected itself, or if its bits are too many or not consecutive in one word.
 */
export function selectorOf(signals: readonly Signal[]): Selector | undefined {
  const multiplexors = new Set(signals.flatMap(({ selection }) => selection?.multiplexor ?? []));
  const [multiplexor] = multiplexors;
  if (multiplexor === undefined || multiplexors.size > 1 || multiplexor.selection !== undefined) return undefined;
  if (multiplexor.type === 'float' || multiplexor.length > mostBits) return undefined;
  const bits = bitsOf(multiplexor);
  const first = bits[0]!;
  const last = first + bits.length - 1;
  if (bits.some((bit, i) => bit !== first + i) || last > 63 || first >>> 5 !== last >>> 5) return undefined;
  return { word: first >>> 5, shift: first & 31, mask: 2 ** bits.length - 1 };
}
