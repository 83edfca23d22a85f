import { type Channel, channelByPath } from '../../../protocol/channels.ts';
import { defined } from '../../../protocol/defined.ts';
import type { Samples } from './pulse.ts';

const longitudinal = channelByPath.get('acceleration.longitudinal') as Channel;
const lateral = channelByPath.get('acceleration.lateral') as Channel;
const vertical = channelByPath.get('acceleration.vertical') as Channel;

/** Maximum number of samples: four seconds at 1 kHz, and the limit of the schema. */
const CAPACITY = 4096;

/** Samples as stored in a recorder's state; an axis that is not measured is null. */
export interface KeptSamples {
  readonly at: readonly number[];
  readonly axes: readonly (readonly number[] | null)[];
}

/** Most recent samples of the accelerometer; components with the same time belong together. */
export class Accelerometer {
  readonly #at = new Float64Array(CAPACITY);
  readonly #axes: readonly Float64Array[] = [0, 1, 2].map(() => new Float64Array(CAPACITY));
  readonly #measured = [false, false, false];
  readonly #present = new Float64Array(3);
  #count = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** Acceleration in the plane at the newest sample, squared, (m/s²)². */
  get planeSquared(): number {
    const x = this.#present[0] as number;
    const y = this.#present[1] as number;
    return x * x + y * y;
  }

  /** Adds a value. Returns true if the channel is one of the sensor's axes. */
  take(channel: Channel, value: number, at: number): boolean {
    const axis = channel === longitudinal ? 0 : channel === lateral ? 1 : channel === vertical ? 2 : -1;
    if (axis < 0) return false;
    // If the clock stepped back, discard the samples: their times do not fit together.
    if (at < this.#last) this.#count = 0;
    if (at !== this.#last || this.#count === 0) {
      const place = this.#count % CAPACITY;
      this.#at[place] = at;
      for (let index = 0; index < 3; index++)
        (this.#axes[index] as Float64Array)[place] = this.#present[index] as number;
      this.#count++;
      this.#last = at;
    }
    this.#measured[axis] = true;
    this.#present[axis] = value;
    (this.#axes[axis] as Float64Array)[(this.#count - 1) % CAPACITY] = value;
    return true;
  }

  /** Returns the persisted form of the samples since `from`: times in UTC ms, values of each measured axis. */
  since(from: number): KeptSamples {
    const places = this.#places(from, Number.POSITIVE_INFINITY);
    return {
      at: places.map((place) => this.#at[place] as number),
      axes: this.#axes.map((axis, index) =>
        this.#measured[index] === true ? places.map((place) => axis[place] as number) : null,
      ),
    };
  }

  /** Restores {@link since} of an earlier run. */
  restore({ at, axes }: KeptSamples): void {
    for (const [n, moment] of at.entries()) {
      for (const [index, channel] of [longitudinal, lateral, vertical].entries()) {
        const value = axes[index]?.[n];
        if (value !== undefined) this.take(channel, value, moment);
      }
    }
  }

  /** Moves all times `by` ms later, because the clock was behind. */
  correct(by: number): void {
    for (const [place, at] of this.#at.entries()) this.#at[place] = at + by;
    this.#last += by;
  }

  /** Returns the samples with `from` ≤ at ≤ `to` and the time of the first, or undefined for fewer than two. */
  between(from: number, to: number): (Samples & { readonly start: number }) | undefined {
    const places = this.#places(from, to);
    if (places.length < 2) return undefined;
    const start = this.#at[places[0] as number] as number;
    const end = this.#at[places.at(-1) as number] as number;
    const axis = (index: 0 | 1 | 2): Float64Array | undefined =>
      this.#measured[index] === true
        ? Float64Array.from(places, (place) => (this.#axes[index] as Float64Array)[place] as number)
        : undefined;
    const [x, y, z] = [axis(0), axis(1), axis(2)];
    return {
      start,
      interval: (end - start) / (places.length - 1),
      ...defined({ longitudinal: x, lateral: y, vertical: z }),
    };
  }

  #places(from: number, to: number): number[] {
    const places: number[] = [];
    for (let n = Math.max(0, this.#count - CAPACITY); n < this.#count; n++) {
      const at = this.#at[n % CAPACITY] as number;
      if (at >= from && at <= to) places.push(n % CAPACITY);
    }
    return places;
  }
}
