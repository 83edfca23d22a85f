import { type Clock, ERROR, type FrameBatch, SENT } from '../ports.ts';

/**
 * The time of the latest frame on each bus of the car: one bus may sleep while another is active. Only this class
 * checks each frame for that purpose. Two kinds of frame do not show that the car is awake:
 *
 * - error frames of the controller: it reports a frame that no node acknowledges each time it sends the frame again;
 * - frames that this unit sent: they would keep it awake, and its own wake-up frame would count as the car's answer.
 *
 * In a log, the mark "sent" means that the recording device sent the frame. For the car that device is a node like any
 * other, and tools that simulate a car mark every frame as sent. Every frame of a log therefore shows that the car is
 * awake: `sends` is false for a replay, and a log that is replayed onto buses has frames without that mark.
 */
export class BusActivity {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #silence: number;
  /** Flags of frames that do not show that the car is awake. */
  readonly #ignored: number;
  /** Time of the latest frame by bus, monotonic ms. */
  readonly #heard = new Map<string, number>();

  /**
   * @param silence time in ms without a frame after which a bus counts as asleep
   * @param sends true if this unit sent the frames flagged SENT
   */
  constructor(clock: Pick<Clock, 'monotonic'>, silence: number, sends = true) {
    this.#clock = clock;
    this.#silence = silence;
    this.#ignored = sends ? SENT : 0;
  }

  /**
   * Processes received frames; their `bus` values are indexes into `buses`.
   * @returns true if any of them shows that the car is awake
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

  /** Returns true for a bus without a frame for longer than `silence`, or without any frame so far. */
  asleep(bus: string): boolean {
    return this.#clock.monotonic() - (this.#heard.get(bus) ?? Number.NEGATIVE_INFINITY) > this.#silence;
  }
}
