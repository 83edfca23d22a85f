/** Which counters of a key were used: the highest {@link REMEMBERED} of them. */
export interface CounterWindow {
  readonly highest: number;
  /** Bit i (hex, lowest bit last) says that highest − i was used, for the {@link SPAN} highest numbers. */
  readonly used: string;
  /** Those further below, highest first: the distance of each to the one before, of the first to highest − SPAN. */
  readonly earlier?: readonly number[];
  /** Of no number up to here is known whether it was used. Absent: of none below the bitmap. */
  readonly floor?: number;
}

/** Numbers that the bitmap has. */
export const SPAN = 64;
/** Used counters that are remembered of a key. */
export const REMEMBERED = 512;

interface Counters {
  /** Highest first. */
  readonly used: readonly number[];
  readonly floor: number;
}

/** The window after `counter` was used, or undefined when it was used before or is too old to tell. */
export function use(window: CounterWindow | undefined, counter: number): CounterWindow | undefined {
  if (!Number.isSafeInteger(counter) || counter < 0) return undefined;
  const { used, floor } = open(window);
  if (counter <= floor || used.includes(counter)) return undefined;
  return seal({ used: [...used, counter], floor });
}

/** What was used by either of two windows of one key. */
export function unite(a: CounterWindow | undefined, b: CounterWindow): CounterWindow {
  const [one, other] = [open(a), open(b)];
  return seal({ used: [...new Set([...one.used, ...other.used])], floor: Math.max(one.floor, other.floor) });
}

function open(window: CounterWindow | undefined): Counters {
  if (window === undefined) return { used: [], floor: -1 };
  const { highest, used: bits, earlier = [], floor = highest - SPAN } = window;
  const bitmap = BigInt(`0x${bits}`);
  const used: number[] = [];
  for (let i = 0; i < SPAN; i++) if (((bitmap >> BigInt(i)) & 1n) === 1n) used.push(highest - i);
  let last = highest - SPAN;
  for (const distance of earlier) {
    last -= distance;
    used.push(last);
  }
  return { used, floor };
}

/** In any order; what is too much is forgotten, the lowest first. */
function seal(counters: Counters): CounterWindow {
  const used = [...counters.used].sort((a, b) => b - a);
  const floor = Math.max(counters.floor, ...used.splice(REMEMBERED));
  const highest = used[0] as number;
  let bitmap = 0n;
  let last = highest - SPAN;
  const earlier: number[] = [];
  for (const counter of used) {
    if (counter > highest - SPAN) bitmap |= 1n << BigInt(highest - counter);
    else if (counter > floor) {
      earlier.push(last - counter);
      last = counter;
    }
  }
  return Object.freeze({ highest, used: bitmap.toString(16), earlier, floor });
}
