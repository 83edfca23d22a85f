/** Counts how often cars exceed the limits for one car, so that operators find the car that does. */
import { reachesPowerOfTwo } from '../../protocol/powers-of-two.ts';
import type { HubLog } from './ports.ts';

/** Limits for one car. docs/hub-reference.md says what happens beyond each. */
export const carLimits = ['messages', 'faults', 'runs', 'jumps', 'lives'] as const;
export type CarLimit = (typeof carLimits)[number];
export type CarLimitCounts = Readonly<Record<CarLimit, number>>;

/** Largest number of cars with separate counts. The others share one, because a client may invent cars. */
const MAX_CARS = 10_000;
/** Name of the cars that share a count, in the log. */
const OTHER_CARS = 'others';

export class CarLimits {
  readonly #log: HubLog;
  readonly #cars = new Map<string, Record<CarLimit, number>>();
  readonly #faults = new Map<string, number>();
  readonly counts: Record<CarLimit, number> = noCounts();

  constructor(log: HubLog) {
    this.#log = log;
  }

  /** Counts a refused message of a car. @returns the count */
  fault(vin: string): number {
    const name = this.#faults.has(vin) || this.#faults.size < MAX_CARS ? vin : OTHER_CARS;
    const faults = (this.#faults.get(name) ?? 0) + 1;
    this.#faults.set(name, faults);
    return faults;
  }

  /**
   * Counts data of a car beyond a limit. Logs only when the count of the car reaches a power of two. @returns the count
   */
  exceeded(vin: string, limit: CarLimit, more: number): number {
    if (more <= 0) return 0;
    const name = this.#cars.has(vin) || this.#cars.size < MAX_CARS ? vin : OTHER_CARS;
    const own = this.#cars.get(name) ?? noCounts();
    this.#cars.set(name, own);
    const before = own[limit];
    own[limit] += more;
    this.counts[limit] += more;
    if (reachesPowerOfTwo(before, own[limit])) {
      this.#log.warn('hub.car.limit', { vin: name, limit, count: own[limit] });
    }
    return own[limit];
  }
}

/** Returns counts of 0. */
export function noCounts(): Record<CarLimit, number> {
  return { messages: 0, faults: 0, runs: 0, jumps: 0, lives: 0 };
}
