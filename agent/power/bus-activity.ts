import { type Clock, ERROR, type FrameBatch, SENT } from '../ports.ts';

/**
 * The time of the latest frame on each bus of the car: while one bus talks, another may sleep. Only this class examines
 * each frame for that purpose. Two kinds of frame do not show that the car is awake:
 *
 * - error frames of the controller: it reports a frame that no node acknowledges each time it sends the frame again;
 * - frames that this unit sent: they would keep it awake, and it would take its own wake-up frame for the car's answer.
 *
 * In a log, the mark "sent" means that the recording device sent the frame. For the car that device is a node like any
 * other, and tools that simulate a car mark every frame so. Every frame of a log therefore shows that the car is awake:
 * `sends` is false for a replay, and a log that is played as if its buses were there gives frames without that mark.
 */
export class BusActivity {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #silence: number;
  /** Flags of frames that say nothing of the car. */
  readonly #ignored: number;
  /** Monotonic ms, by bus. */
  readonly #heard = new Map<string, number>();

  /**
   * @param silence a bus that says nothing for longer sleeps, ms
   * @param sends whether frames flagged SENT are those of this unit
   */
  constructor(clock: Pick<Clock, 'monotonic'>, silence: number, sends = true) {
    this.#clock = clock;
    this.#silence = silence;
    this.#ignored = sends ? SENT : 0;
  }

  /**
   * Frames came; `buses` are the names that their `bus` indexes.
   * @returns whether any of them says that the car is awake
   */
  received({ count, id, flags, bus }: FrameBatch, buses: readonly string[]): boolean {
    const now = this.#clock.monotonic();
    let last = -1;
    for (let i = 0; i < count; i++) {
      const index = bus[i] as number;
      if (index === last || ((id[i] as number) & ERROR) !== 0 || ((flags[i] as number) & this.#ignored) !== 0) continue;
      last = index;
      const name = buses[index];
      if (name !== undefined) this.#heard.set(name, now);
      if (buses.length <= 1) return true;
    }
    return last >= 0;
  }

  /** True for a bus that was silent for longer than `silence`, and for one that was always silent. */
  asleep(bus: string): boolean {
    return this.#clock.monotonic() - (this.#heard.get(bus) ?? Number.NEGATIVE_INFINITY) > this.#silence;
  }
}
