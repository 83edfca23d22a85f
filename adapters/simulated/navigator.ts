import type { MessageCodec, OutgoingFrame } from '../../agent/ports.ts';
import { sound } from './requests.ts';

/** Time that it takes to work out the way, ms. */
const WORK = 400;
/** Longest pause between two positions, ms. */
const PAUSE = 1_000;

export interface CarPosition {
  /** Degrees, WGS 84. */
  readonly longitude: number;
  readonly latitude: number;
}

/** The navigation: takes a destination, position by position. */
export class Navigator {
  transfer: 'Idle' | 'Receiving' | 'Received' | 'Rejected' = 'Idle';
  /** The last accepted destination, as far as it was received. */
  positions: readonly CarPosition[] = [];
  accepted = 0;
  rejected = 0;
  readonly #codec: MessageCodec;
  readonly #id: number;
  readonly #taken: () => number | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  /** ms until the way is worked out; undefined while positions are missing. */
  #rest: number | undefined;

  /** Calls `taken` when it has all positions; the result is the delay of its confirmation, ms; undefined: never. */
  constructor(codec: MessageCodec, taken: () => number | undefined) {
    this.#codec = codec;
    this.#id = codec.encode('NAVIGATION_COMMAND', {}).id;
    this.#taken = taken;
  }

  /** A frame from the bus, `at` ms of monotonic time. Other messages leave it as it is. */
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

  /** Lets `ms` of the car's time pass. */
  step(ms: number): void {
    if (this.#rest === undefined) return;
    this.#rest -= ms;
    if (this.#rest > 0) return;
    this.#rest = undefined;
    this.transfer = 'Received';
  }
}
