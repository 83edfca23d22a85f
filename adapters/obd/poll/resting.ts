/** Pauses polls while the unit sleeps, and detects that the car is used again. */
import type { Clock } from '../../../agent/ports.ts';
import type { Rest } from '../../../agent/power/rest.ts';
import type { ObdSource } from './source.ts';

/** Pausing and resuming the polls of {@link ObdSource}. */
type Polls = Pick<ObdSource, 'pause' | 'resume'>;

/** Pauses the polls while the unit sleeps. @returns a function that ends this behaviour */
export function pauseAsleep(polls: Polls, rest: Rest): () => void {
  const apply = (asleep: boolean): void => (asleep ? polls.pause() : polls.resume());
  if (rest.asleep) apply(true);
  return rest.subscribe(apply);
}

/** Interval in ms of voltage measurements. */
const LOOK = 60_000;
/** Interval in ms of trials if the adapter cannot measure the voltage: the same as for other checks during sleep. */
const BLIND_LOOK = 600_000;
/** Duration in ms of a trial that polls the car for answers: the search for control units takes some seconds. */
const TRIAL = 20_000;
/** Voltage rise in V that starts a trial. Charging raises a 12 V battery by over 1 V; adapters measure to 0.1–0.2 V. */
const RISE = 0.4;

interface VoltageWatchOptions {
  readonly polls: Polls;
  readonly rest: Rest;
  readonly clock: Clock;
  /** Measures the voltage of the 12 V battery in V without a frame on the bus; rejects if that is not possible now. */
  readonly voltage: () => Promise<number>;
}

/**
 * Detects that a car which sends nothing but answers is used again. While the unit sleeps, nothing is polled. When the
 * voltage rises, the car is polled for a while, and its answers wake the unit.
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
    // After a trial without an answer, e.g. with a charger connected, only a further rise counts.
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

  /** Sets no timer if the unit woke, or the source was stopped, during a request to the adapter. */
  #later(delay: number, due: () => void): void {
    this.#cancel();
    if (this.#stopped || !this.#options.rest.asleep) return;
    this.#cancel = this.#options.clock.after(delay, due);
  }
}
