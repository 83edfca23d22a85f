/** Which counters of a key were used: the highest, and the `SPAN` below it as a bitmap (as RFC 4303 §3.4.3 does). */
export interface CounterWindow {
  readonly highest: number;
  /** Bit i (hex, lowest bit last) says that highest − i was used. */
  readonly used: string;
}

/** Counters this far below the highest may still arrive, out of order. */
export const SPAN = 64;

/** The window after `counter` was used, or undefined when it was used before or is too old to tell. */
export function use(window: CounterWindow | undefined, counter: number): CounterWindow | undefined {
  if (!Number.isSafeInteger(counter) || counter < 0) return undefined;
  if (window === undefined) return { highest: counter, used: '1' };
  const used = BigInt(`0x${window.used}`);
  if (counter > window.highest) {
    const shift = counter - window.highest;
    const moved = shift >= SPAN ? 0n : (used << BigInt(shift)) & ((1n << BigInt(SPAN)) - 1n);
    return { highest: counter, used: (moved | 1n).toString(16) };
  }
  const bit = window.highest - counter;
  if (bit >= SPAN || ((used >> BigInt(bit)) & 1n) === 1n) return undefined;
  return { highest: window.highest, used: (used | (1n << BigInt(bit))).toString(16) };
}

/** What was used by either of two windows of one key. */
export function unite(a: CounterWindow | undefined, b: CounterWindow): CounterWindow {
  if (a === undefined) return b;
  const [low, high] = a.highest < b.highest ? [a, b] : [b, a];
  const shift = high.highest - low.highest;
  const moved = shift >= SPAN ? 0n : (BigInt(`0x${low.used}`) << BigInt(shift)) & ((1n << BigInt(SPAN)) - 1n);
  return { highest: high.highest, used: (moved | BigInt(`0x${high.used}`)).toString(16) };
}
