/**
 * Lives of a car's folder of records, in the order in which the hub received their first messages. A life has begun `boot` at a
 * random number of 32 bits. The hub numbers all starts of a car anew, and starts of a later life have higher numbers.
 */
import { BOOTS, UNCOUNTED_BOOT, UNRECORDED_BOOT } from '../../protocol/schema/message.ts';

/** Numbers of the starts of one life at the hub. */
const LIFE_SIZE = 2 ** 31;
/** From here on within a life: starts that the car could not count, with random numbers. */
const UNCOUNTED_START = 2 ** 30;
/** From here up to {@link UNCOUNTED_START}: starts without records, which have their own numbers. */
const UNRECORDED_START = 2 ** 29;
/** Starts around the first one that the hub received which belong to its life. */
const STARTS_BEFORE = 2 ** 14;
const STARTS_AFTER = 2 ** 17;

export interface Life {
  /** 0 is the first life of the car. */
  readonly ordinal: number;
  /** `boot` of the first message of the life that the hub received. */
  readonly first: number;
}

/** Lives of one car; those that begin are added. */
export class Lives {
  readonly #all: Life[];
  readonly begun: Life[] = [];

  /** @param all by `ordinal` */
  constructor(all: readonly Life[] = []) {
    this.#all = [...all];
  }

  /**
   * Number of the start `boot` of the car at the hub. A start with a random number belongs to the newest life. If no life has a counted
   * start near it, it begins a new one.
   */
  startOf(boot: number): number {
    const newest = this.#all.at(-1);
    if (boot >= UNCOUNTED_BOOT) {
      const lowest = boot >= UNRECORDED_BOOT ? UNRECORDED_START : UNCOUNTED_START;
      return LIFE_SIZE * (newest?.ordinal ?? 0) + lowest + (boot % lowest);
    }
    const life = this.#all.findLast(({ first }) => offsetIn(first, boot) < STARTS_BEFORE + STARTS_AFTER);
    const { ordinal, first } = life ?? this.#begin(boot);
    return LIFE_SIZE * ordinal + offsetIn(first, boot);
  }

  #begin(first: number): Life {
    const life = { ordinal: this.#all.length, first };
    this.#all.push(life);
    this.begun.push(life);
    return life;
  }
}

/** Starts from the lowest of the life on. Earlier agents counted from 1. */
function offsetIn(first: number, boot: number): number {
  const lowest = first < STARTS_BEFORE ? 0 : first - STARTS_BEFORE;
  return (boot - lowest + BOOTS) % BOOTS;
}

/** The lowest number that a start of a life can have at the hub. */
export function lowestStart({ ordinal }: Pick<Life, 'ordinal'>): number {
  return LIFE_SIZE * ordinal;
}

/** By the number of a start at the hub: the ordinal of its life. */
export function lifeOf(start: number): number {
  return Math.floor(start / LIFE_SIZE);
}

/** Whether the car counted the start with this number at the hub. */
export function isCounted(start: number): boolean {
  return start % LIFE_SIZE < UNRECORDED_START;
}

/** Whether the car could not read its records at the start with this number at the hub. */
export function isUnrecorded(start: number): boolean {
  return !isCounted(start) && start % LIFE_SIZE < UNCOUNTED_START;
}

/** As {@link isCounted}, in SQL. */
export const isCountedSql = (start: string): string => `${start} % ${LIFE_SIZE} < ${UNRECORDED_START}`;

/** Least number of the life of a start, in SQL. SQLite takes a bound number as a fraction, so nothing is divided. */
export const lifeOfSql = (start: string): string => `${start} - ${start} % ${LIFE_SIZE}`;

/** An uncounted start in the life of another start; `chance` is a random number. */
export function uncountedBeside(start: number, chance: number): number {
  return LIFE_SIZE * lifeOf(start) + UNCOUNTED_START + (chance % UNCOUNTED_START);
}
