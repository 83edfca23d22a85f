/**
 * Lives of a car's folder of records, in the order in which the hub received their first messages. Each life counts
 * `boot` from a random 32-bit number. The hub renumbers all starts of a car so that starts of a later life have higher
 * numbers.
 */
import { BOOTS, UNCOUNTED_BOOT, UNRECORDED_BOOT } from '../../protocol/schema/message.ts';

/** Number of start numbers that the hub reserves for one life. */
const LIFE_SIZE = 2 ** 31;
/** First number in a life for starts that the car could not count. Their numbers are random. */
const UNCOUNTED_START = 2 ** 30;
/** First number for starts without records, up to {@link UNCOUNTED_START}. Their message numbers are separate. */
const UNRECORDED_START = 2 ** 29;
/** Number of starts before and after the first received one that belong to the same life. */
const STARTS_BEFORE = 2 ** 14;
const STARTS_AFTER = 2 ** 17;
/** Largest number of lives of a car that the hub remembers: the newest ones. A commit reads all of them. */
export const MAX_LIVES = 64;
/** Largest ordinal: the numbers of starts stay below 2^53. Later lives count as this one. */
const LAST_LIFE = 2 ** 22 - 1;

export interface Life {
  /** Position among the lives of the car, from 0. */
  readonly ordinal: number;
  /** `boot` of the first message of the life that the hub received. */
  readonly first: number;
}

/** Lives of one car. New lives are added. */
export class Lives {
  readonly #all: Life[];
  /** New lives. Store them, and remove those that precede them by {@link MAX_LIVES} or more. */
  readonly begun: Life[] = [];

  /** @param all sorted by `ordinal` */
  constructor(all: readonly Life[] = []) {
    this.#all = [...all];
  }

  /**
   * Returns the hub's number for the start `boot`. A start with a random number belongs to the newest life. A counted
   * start begins a new life if it is near no counted start of a life.
   */
  startOf(boot: number): number {
    const newest = this.#all.at(-1);
    if (boot >= UNCOUNTED_BOOT) {
      const lowest = boot >= UNRECORDED_BOOT ? UNRECORDED_START : UNCOUNTED_START;
      return LIFE_SIZE * (newest?.ordinal ?? 0) + lowest + (boot % lowest);
    }
    const life = this.#all.findLast(({ first }) => offsetIn(first, boot) < STARTS_BEFORE + STARTS_AFTER);
    const { ordinal, first } = life ?? this.#begin(boot);
    return LIFE_SIZE * ordinal + (offsetIn(first, boot) % UNRECORDED_START);
  }

  #begin(first: number): Life {
    const newest = this.#all.at(-1);
    if (newest?.ordinal === LAST_LIFE) return newest;
    const life = { ordinal: newest === undefined ? 0 : newest.ordinal + 1, first };
    this.#all.push(life);
    if (this.#all.length > MAX_LIVES) this.#all.shift();
    this.begun.push(life);
    return life;
  }
}

/** Returns the distance from the lowest start of the life. */
function offsetIn(first: number, boot: number): number {
  return (boot - lowestBoot(first) + BOOTS) % BOOTS;
}

/** Returns `boot` of the lowest start of the life. Earlier agents counted from 1. */
function lowestBoot(first: number): number {
  return first < STARTS_BEFORE ? 0 : first - STARTS_BEFORE;
}

/** Returns `boot` in the messages of a start, from its number at the hub. `lives`: the stored ones of the car. */
export function bootOf(start: number, lives: readonly Life[]): number {
  const offset = start % LIFE_SIZE;
  if (offset >= UNCOUNTED_START) return UNCOUNTED_BOOT + offset - UNCOUNTED_START;
  if (offset >= UNRECORDED_START) return UNRECORDED_BOOT + offset - UNRECORDED_START;
  const life = lives.find(({ ordinal }) => ordinal === lifeOf(start));
  return (lowestBoot(life?.first ?? 0) + offset) % BOOTS;
}

/** Returns the lowest number that a start of this life can have at the hub. */
export function lowestStart({ ordinal }: Pick<Life, 'ordinal'>): number {
  return LIFE_SIZE * ordinal;
}

/** Returns the ordinal of the life of a start, from its number at the hub. */
export function lifeOf(start: number): number {
  return Math.floor(start / LIFE_SIZE);
}

/** Returns true if the car counted the start that has this number at the hub. */
export function isCounted(start: number): boolean {
  return start % LIFE_SIZE < UNRECORDED_START;
}

/** Returns true if the car could not read its records at the start that has this number at the hub. */
export function isUnrecorded(start: number): boolean {
  return !isCounted(start) && start % LIFE_SIZE < UNCOUNTED_START;
}

/** {@link isCounted} in SQL. */
export const isCountedSql = (start: string): string => `${start} % ${LIFE_SIZE} < ${UNRECORDED_START}`;

/** SQL for the lowest number in the life of a start. Without a division, because SQLite binds numbers as fractions. */
export const lifeOfSql = (start: string): string => `${start} - ${start} % ${LIFE_SIZE}`;

/** Returns an uncounted start in the life of another start. `chance`: a random number. */
export function uncountedBeside(start: number, chance: number): number {
  return LIFE_SIZE * lifeOf(start) + UNCOUNTED_START + (chance % UNCOUNTED_START);
}
