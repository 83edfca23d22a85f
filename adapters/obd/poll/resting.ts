/** Polls of a unit that sleeps: there are none. */
import type { Clock } from '../../../agent/ports.ts';
import type { Rest } from '../../../agent/power/rest.ts';
import type { ObdSource } from './source.ts';

/** The polls of {@link ObdSource}, as they are held back. */
type Polls = Pick<ObdSource, 'pause' | 'resume'>;

/** Pauses the polls while the unit sleeps. @returns a function that ends it */
export function pauseAsleep(polls: Polls, rest: Rest): () => void {
  const apply = (asleep: boolean): void => (asleep ? polls.pause() : polls.resume());
  if (rest.asleep) apply(true);
  return rest.subscribe(apply);
}

/** How often the voltage is looked at, ms. */
const LOOK = 60_000;
/** An adapter that does not measure leaves nothing but to ask the car itself, as seldom as the unit looks around, ms. */
const BLIND_LOOK = 600_000;
/** The car is asked for so long whether it answers, ms: a search for its control units takes some seconds. */
const TRIAL = 20_000;
/** An alternator or a charger lifts a 12 V battery by more than a volt; adapters measure to a tenth or two. */
const RISE = 0.4;

interface VoltageWatchOptions {
  readonly polls: Polls;
  readonly rest: Rest;
  readonly clock: Clock;
  /** Volts of the 12 V battery, measured without a frame on the bus; rejects when that cannot be done now. */
  readonly voltage: () => Promise<number>;
}

/**
 * Finds out whether a car is used again of which nothing can be heard but answers. While the unit sleeps nothing is
 * polled; when the voltage rises, the car is asked for a while, and its answers wake the unit.
 */
export class VoltageWatch {
  readonly #options: VoltageWatchOptions;
  readonly #unsubscribe: () => void;
  #lowest = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => undefined;
  #stopped = false;

  constructor(options: VoltageWatchOptions) {
    this.#options = options;
    const { rest } = options;
    this.#unsubscribe = rest.subscribe((asleep) => (asleep ? this.#sleep() : this.#wake()));
    if (rest.asleep) this.#sleep();
  }

  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
    this.#cancel();
  }

  #sleep(): void {
    this.#options.polls.pause();
    this.#lowest = Number.POSITIVE_INFINITY;
    this.#later(LOOK, () => this.#look());
  }

  #wake(): void {
    this.#cancel();
    this.#options.polls.resume();
  }

  #look(): void {
    this.#options.voltage().then(
      (volts) => this.#measured(volts),
      () => this.#later(BLIND_LOOK, () => this.#try()),
    );
  }

  #measured(volts: number): void {
    const rose = volts >= this.#lowest + RISE;
    // After a trial in vain, as beside a charger, only a further rise counts.
    this.#lowest = rose ? volts : Math.min(this.#lowest, volts);
    if (rose) this.#try();
    else this.#later(LOOK, () => this.#look());
  }

  #try(): void {
    if (this.#stopped || !this.#options.rest.asleep) return;
    this.#options.polls.resume();
    this.#later(TRIAL, () => {
      this.#options.polls.pause();
      this.#look();
    });
  }

  /** Nothing is set for a unit that woke, or a source that was stopped, while the adapter was asked. */
  #later(delay: number, due: () => void): void {
    this.#cancel();
    if (this.#stopped || !this.#options.rest.asleep) return;
    this.#cancel = this.#options.clock.after(delay, due);
  }
}
