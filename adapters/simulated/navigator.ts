import type { MessageCodec, OutgoingFrame } from '../../agent/ports.ts';
import { sound } from './requests.ts';

/** Duration in ms of computing a route. */
const WORK = 400;
/** Longest time in ms between two positions. */
const PAUSE = 1_000;

export interface CarPosition {
  /** Degrees, WGS 84. */
  readonly longitude: number;
  readonly latitude: number;
}

/** The navigation: receives a destination, position by position. */
export class Navigator {
  transfer: 'Idle' | 'Receiving' | 'Received' | 'Rejected' = 'Idle';
  /** The last accepted destination, as far as received. */
  positions: readonly CarPosition[] = [];
  accepted = 0;
  rejected = 0;
  readonly #codec: MessageCodec;
  readonly #id: number;
  readonly #taken: () => number | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  /** Time in ms until the route is computed; undefined while positions are missing. */
  #rest: number | undefined;

  /** Calls `taken` after the last position. It returns the delay of the confirmation in ms; undefined: none follows. */
  constructor(codec: MessageCodec, taken: () => number | undefined) {
    this.#codec = codec;
    this.#id = codec.encode('NAVIGATION_COMMAND', {}).id;
    this.#taken = taken;
  }

  /** Processes a frame from the bus at monotonic time `at` in ms. Ignores other messages. */
  receive(frame: OutgoingFrame, at: number): void {
    if (frame.id !== this.#id) return;
    const signals = frame.data.length === 8 && sound(frame.data) ? this.#codec.decode(frame)?.signals : undefined;
    const { Index: index, Last: last, Longitude: longitude, Latitude: latitude } = signals ?? {};
    if (index === undefined || longitude === undefined || latitude === undefined) {
      this.rejected++;
      return;
    }
    const follows = index === 0 || (index === this.positions.length && at - this.#heardAt <= PAUSE);
    this.#heardAt = at;
    this.#rest = undefined;
    this.transfer = follows ? 'Receiving' : 'Rejected';
    if (!follows) this.rejected++;
    this.positions = follows ? [...(index === 0 ? [] : this.positions), { longitude, latitude }] : [];
    if (!follows || last !== 1) return;
    this.accepted++;
    const late = this.#taken();
    if (late !== undefined) this.#rest = WORK + late;
  }

  /** Advances the car's time by `ms`. */
  step(ms: number): void {
    if (this.#rest === undefined) return;
    this.#rest -= ms;
    if (this.#rest > 0) return;
    this.#rest = undefined;
    this.transfer = 'Received';
  }
}
