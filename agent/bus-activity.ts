import { type Clock, ERROR, type FrameBatch, SENT } from './ports.ts';

/** When each bus of the car was last heard: while one talks, another may sleep. */
export class BusActivity {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #silence: number;
  /** Monotonic ms, by bus. */
  readonly #heard = new Map<string, number>();

  /** @param silence a bus that says nothing for longer sleeps, ms */
  constructor(clock: Pick<Clock, 'monotonic'>, silence: number) {
    this.#clock = clock;
    this.#silence = silence;
  }

  /**
   * Frames came; `buses` are the names that their `bus` indexes. What this unit sent itself says nothing of the car, nor
   * does what its controller reports: a frame that nobody acknowledges is reported for as long as it is sent again.
   */
  received({ count, id, flags, bus }: FrameBatch, buses: readonly string[]): void {
    const now = this.#clock.monotonic();
    let last = -1;
    for (let i = 0; i < count; i++) {
      const index = bus[i] as number;
      if (index === last || ((id[i] as number) & ERROR) !== 0 || ((flags[i] as number) & SENT) !== 0) continue;
      last = index;
      const name = buses[index];
      if (name !== undefined) this.#heard.set(name, now);
      if (buses.length === 1) return;
    }
  }

  /** True for a bus that was not heard for longer than the silence, and for one that never was. */
  asleep(bus: string): boolean {
    return this.#clock.monotonic() - (this.#heard.get(bus) ?? Number.NEGATIVE_INFINITY) > this.#silence;
  }
}
