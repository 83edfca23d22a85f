/** Finds counters of frames by trial. */
import type { BitField } from '../dbc/index.ts';

/** A field that increases by one in each frame, and restarts at 0 after `modulus` − 1. */
export interface FoundCounter {
  readonly field: BitField;
  /**
   * 2 to the power of the field's bits, or one less: AUTOSAR's profiles 1 and 11 count from 0 to 14 (PRS_E2EProtocol
   * §6.1, the value 15 is invalid).
   */
  readonly modulus: number;
  /** Number of frames compared with the previous frame, and number of those that were one higher. */
  readonly frames: number;
  readonly right: number;
}

/** Minimum number of frame pairs that prove a counter. */
const FEWEST = 16;
/** Recordings lose frames: this share of pairs may differ by another step. At least 3 in 4 pairs of random bits do. */
const TOLERATED = 0.2;
/** A wider field may have this share fewer right pairs: a narrow field does not notice some runs of lost frames. */
const SLACK = 0.03;

/**
 * Finds counters of 2 to 8 bits within one byte: fields that are one higher in nearly every frame, of which all bits
 * change, and that restarted at 0, unlike a value that happens to grow.
 * @param runs of consecutive frames, all of the same payload length
 */
export function findCounters(runs: readonly (readonly Uint8Array[])[]): FoundCounter[] {
  const bytes = runs[0]?.[0]?.length ?? 0;
  const found: FoundCounter[] = [];
  for (let byte = 0; byte < bytes; byte++) {
    const pairs = pairsOf(runs, byte);
    for (let bit = 0; bit < 7; bit++) {
      const counter = countsFrom(pairs, byte, bit);
      if (counter === undefined) continue;
      found.push(counter);
      bit += counter.field.length - 1;
    }
  }
  return found;
}

/** Returns the values of one byte in two consecutive frames, one after the other. */
function pairsOf(runs: readonly (readonly Uint8Array[])[], byte: number): Uint8Array {
  const pairs = new Uint8Array(2 * runs.reduce((sum, run) => sum + run.length - 1, 0));
  let filled = 0;
  for (const run of runs) {
    for (let i = 1; i < run.length; i++) {
      pairs[filled++] = run[i - 1]![byte]!;
      pairs[filled++] = run[i]![byte]!;
    }
  }
  return pairs;
}

/** Returns the widest counter with this least significant bit. */
function countsFrom(pairs: Uint8Array, byte: number, bit: number): FoundCounter | undefined {
  const frames = pairs.length / 2;
  const narrow = steps(pairs, bit, 3, 4);
  if (frames < FEWEST || narrow.right < frames * (1 - TOLERATED)) return undefined;
  for (let length = 8 - bit; length >= 2; length--) {
    const whole = 2 ** length;
    const moduli = length < 4 ? [whole] : [whole, whole - 1];
    const [best] = moduli
      .map((modulus) => ({ modulus, ...steps(pairs, bit, whole - 1, modulus) }))
      .sort((a, b) => b.right - a.right);
    if (best === undefined || best.right < narrow.right - frames * SLACK) continue;
    if (best.restarts === 0) {
      // Either its highest bits belong to something else, or it counts beyond what was seen.
      if (changes(pairs, bit + length - 1)) return undefined;
      continue;
    }
    const field = { start: byte * 8 + bit, length, byteOrder: 'little' } as const;
    return { field, modulus: best.modulus, frames, right: best.right };
  }
  return undefined;
}

/** Returns the number of pairs one apart, and the number of restarts at 0. */
function steps(
  pairs: Uint8Array,
  bit: number,
  mask: number,
  modulus: number,
): { readonly right: number; readonly restarts: number } {
  let right = 0;
  let restarts = 0;
  for (let i = 0; i < pairs.length; i += 2) {
    const before = (pairs[i]! >>> bit) & mask;
    const after = (pairs[i + 1]! >>> bit) & mask;
    if (after === before + 1 && after < modulus) right++;
    else if (after === 0 && before === modulus - 1) restarts++;
  }
  return { right: right + restarts, restarts };
}

function changes(values: Uint8Array, bit: number): boolean {
  return values.some((value) => ((value ^ values[0]!) & (1 << bit)) !== 0);
}
