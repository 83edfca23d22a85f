/**
 * Sends the changes of many cars: those that are due, some at a time, each at most once per interval. While the
 * receiver is away or slow, only remembers which cars are due.
 */
import type { Clock } from '../../agent/ports.ts';
import type { VehicleStatus } from '../core/vehicle-status.ts';
import type { ExitCar } from './exit-car.ts';

/** Number of cars in one read of the database. Other work of the hub waits while they are compared. */
const BATCH = 20;
/** Largest number of messages that the broker has not acknowledged before the values of more cars follow. */
const MAX_UNACKNOWLEDGED = 100;

interface ExitRoundsParts {
  readonly interval: number;
  readonly clock: Clock;
  readonly isConnected: () => boolean;
  /** Runs before each round. Never rejects. */
  readonly before: () => Promise<void>;
  /** Returns the Status of a car; undefined if the hub does not show it. Rejects with `store.failed`. */
  readonly read: (vin: string) => Promise<VehicleStatus | undefined> | undefined;
  readonly create: (vin: string) => ExitCar;
  readonly presenceOf: (vin: string) => string | undefined;
  /** Called when a car is not shown, and nothing more of it is sent. `sent`: whether there was something before. */
  readonly gone: (vin: string, sent: boolean) => void;
  readonly failed: (error: unknown) => void;
}

export class ExitRounds {
  readonly #parts: ExitRoundsParts;
  readonly #cars = new Map<string, ExitCar>();
  /** Cars to read, and those of them to send whole. */
  readonly #due = new Set<string>();
  readonly #greeted = new Set<string>();
  /** True if a round must run even if no car is due. */
  #wanted = false;
  #round: Promise<void> | undefined;
  #begunAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #unacknowledged = 0;
  #room: () => void = () => undefined;
  #closed = false;

  constructor(parts: ExitRoundsParts) {
    this.#parts = parts;
  }

  get cars(): ReadonlyMap<string, ExitCar> {
    return this.#cars;
  }

  /** Sends the changes of these cars. */
  makeDue(vins: Iterable<string>): void {
    for (const vin of vins) this.#due.add(vin);
    this.#plan();
  }

  /** Sends all values of these cars. Runs {@link ExitRoundsParts.before} even if the list is empty. */
  greet(vins: Iterable<string>): void {
    for (const vin of vins) {
      this.#greeted.add(vin);
      this.#due.add(vin);
    }
    this.#wanted = true;
    this.#plan();
  }

  /** Call when the connection is lost. */
  down(): void {
    for (const car of this.#cars.values()) car.down();
    this.#room();
  }

  /** Counts a message until it is acknowledged or lost. */
  async count<T>(sending: Promise<T>): Promise<T> {
    this.#unacknowledged++;
    try {
      return await sending;
    } finally {
      this.#unacknowledged--;
      this.#room();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    this.down();
    await this.#round;
  }

  #plan(): void {
    const { clock, interval, isConnected, failed } = this.#parts;
    if (this.#closed || !isConnected() || this.#cancel !== undefined || this.#round !== undefined) return;
    if (this.#due.size === 0 && !this.#wanted) return;
    const wait = Math.max(0, this.#begunAt + interval - clock.monotonic());
    this.#cancel = clock.after(wait, () => {
      this.#cancel = undefined;
      this.#begunAt = clock.monotonic();
      this.#round = this.#send()
        .catch(failed)
        .finally(() => {
          this.#round = undefined;
          this.#plan();
        });
    });
  }

  async #send(): Promise<void> {
    this.#wanted = false;
    await this.#parts.before();
    const due = [...this.#due];
    while (due.length > 0 && this.#parts.isConnected() && !this.#closed) {
      await this.#sendCars(due.splice(0, BATCH));
      await this.#hasRoom();
    }
  }

  async #sendCars(vins: readonly string[]): Promise<void> {
    for (const vin of vins) this.#due.delete(vin);
    try {
      const found = await Promise.all(vins.map((vin) => this.#parts.read(vin)));
      for (const [index, vin] of vins.entries()) {
        const status = found[index];
        if (status === undefined) await this.#remove(vin);
        else this.#sendCar(vin, status);
      }
    } catch (error) {
      for (const vin of vins) this.#due.add(vin);
      throw error;
    }
  }

  #sendCar(vin: string, status: VehicleStatus): void {
    const known = this.#cars.get(vin);
    const car = known ?? this.#parts.create(vin);
    this.#cars.set(vin, car);
    car.accept(status);
    if (this.#greeted.delete(vin) || known === undefined) car.greet(this.#parts.presenceOf(vin));
  }

  async #remove(vin: string): Promise<void> {
    const car = this.#cars.get(vin);
    this.#cars.delete(vin);
    this.#greeted.delete(vin);
    await car?.remove();
    this.#parts.gone(vin, car !== undefined);
  }

  /** Resolves when the cars of the last batch have begun to send, and the broker has acknowledged most messages. */
  async #hasRoom(): Promise<void> {
    await new Promise<void>((resolve) => this.#parts.clock.after(0, resolve));
    while (this.#unacknowledged > MAX_UNACKNOWLEDGED && this.#parts.isConnected() && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#room = resolve;
      });
    }
  }
}
