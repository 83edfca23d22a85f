/** The {@link REMEMBERED} highest used counters of a key. */
export interface ReplayWindow {
  readonly highest: number;
  /** Used counters below the highest one, highest first, each as the distance to the previous one. */
  readonly earlier: readonly number[];
  /** Up to this counter, the window no longer contains which counters were used. */
  readonly floor: number;
}

/** Number of used counters remembered per key. */
export const REMEMBERED = 512;

interface Counters {
  /** Highest first. */
  readonly used: readonly number[];
  readonly floor: number;
}

/** Returns the window after `counter` was used, or undefined if it was used before or is too old to decide. */
export function use(window: ReplayWindow | undefined, counter: number): ReplayWindow | undefined {
  if (!Number.isSafeInteger(counter) || counter < 0) return undefined;
  const { used, floor } = open(window);
  if (counter <= floor || used.includes(counter)) return undefined;
  return seal({ used: [...used, counter], floor });
}

/** Returns true if {@link use} would refuse the counter. */
export function isUsed(window: ReplayWindow | undefined, counter: number): boolean {
  const { used, floor } = open(window);
  return counter <= floor || used.includes(counter);
}

/** Returns the union of two windows of one key. */
export function unite(a: ReplayWindow | undefined, b: ReplayWindow): ReplayWindow {
  const [one, other] = [open(a), open(b)];
  return seal({ used: [...new Set([...one.used, ...other.used])], floor: Math.max(one.floor, other.floor) });
}

function open(window: ReplayWindow | undefined): Counters {
  if (window === undefined) return { used: [], floor: -1 };
  const used = [window.highest];
  let last = window.highest;
  for (const distance of window.earlier) {
    last -= distance;
    used.push(last);
  }
  return { used, floor: window.floor };
}

/** Returns the window of counters in any order. Drops the lowest if there are too many. */
function seal(counters: Counters): ReplayWindow {
  const used = [...counters.used].sort((a, b) => b - a);
  const floor = Math.max(counters.floor, ...used.splice(REMEMBERED));
  const highest = used[0] as number;
  let last = highest;
  const earlier: number[] = [];
  for (const counter of used.slice(1)) {
    if (counter <= floor) break;
    earlier.push(last - counter);
    last = counter;
  }
  return Object.freeze({ highest, earlier, floor });
}
