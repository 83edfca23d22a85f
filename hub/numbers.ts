/** Which numbers of one class of a car arrived, which the car gave up, and which are missing. */
import { type Run, Runs } from '../protocol/runs.ts';
import type { Gap } from '../protocol/schema/gap.ts';

/** What is kept of them. */
export interface KeptNumbers {
  readonly arrived: readonly Run[];
  /** As `gap` messages say, those included that arrived all the same. */
  readonly givenUp: readonly Run[];
}

/** Ascending runs; every number from 0 up to the highest that is known is in exactly one of the three lists. */
export interface NumbersReport extends KeptNumbers {
  readonly missing: readonly Run[];
}

/** A car numbers each class from 0, without a hole and for ever, so what is in neither set is missing. */
export class ClassNumbers {
  readonly #arrived = new Runs();
  readonly #givenUp = new Runs();

  constructor({ arrived, givenUp }: KeptNumbers = { arrived: [], givenUp: [] }) {
    for (const [first, last] of arrived) this.#arrived.add(first, last);
    for (const [first, last] of givenUp) this.#givenUp.add(first, last);
  }

  get kept(): KeptNumbers {
    return { arrived: this.#arrived.all, givenUp: this.#givenUp.all };
  }

  get report(): NumbersReport {
    const arrived = this.#arrived.all;
    const givenUp = new Runs();
    for (const [first, last] of this.#givenUp.all) givenUp.add(first, last);
    for (const [first, last] of arrived) givenUp.remove(first, last);
    const missing = new Runs();
    const highest = Math.max(arrived.at(-1)?.[1] ?? -1, this.#givenUp.all.at(-1)?.[1] ?? -1);
    if (highest >= 0) missing.add(0, highest);
    for (const [first, last] of [...arrived, ...this.#givenUp.all]) missing.remove(first, last);
    return { arrived, givenUp: givenUp.all, missing: missing.all };
  }

  /** How many numbers are missing. */
  get missing(): number {
    const known = new Runs();
    for (const [first, last] of [...this.#arrived.all, ...this.#givenUp.all]) known.add(first, last);
    return (known.all.at(-1)?.[1] ?? -1) + 1 - known.size;
  }

  arrive(seq: number): void {
    this.#arrived.add(seq);
  }

  /** A `gap` message says which numbers of the class never come; one without numbers says nothing of them. */
  giveUp(numbers: Gap['numbers'] = []): void {
    for (const [first, last] of numbers) if (first <= last) this.#givenUp.add(first, last);
  }
}
