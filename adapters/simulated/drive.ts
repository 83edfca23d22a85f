import type { Route } from './route.ts';

/** Speed where the way is straight, m/s (57.6 km/h). */
const CRUISE = 16;
/** Sideways acceleration that the driver accepts in a bend, m/s². */
const SIDEWAYS = 2;
/** How hard the driver accelerates and brakes, m/s². */
const PULL = 1.7;
const BRAKE = 1.9;
/** Length of the cells of constant acceleration that a drive is made of, about 1 m. */
const CELL = 1;

/** Where the car is and how it moves at one moment of a drive. */
export interface Motion {
  /** m from the start of the route */
  readonly distance: number;
  /** m/s */
  readonly speed: number;
  /** m/s², along the car */
  readonly acceleration: number;
}

/**
 * One drive around the route, from standing to standing. Acceleration is constant within a cell, so distance,
 * speed and acceleration are exact integrals and derivatives of each other at any moment.
 */
export class Drive {
  /** s */
  readonly duration: number;
  readonly #cell: number;
  /** Square of the speed at each node, m²/s². */
  readonly #square: Float64Array;
  /** Moments when a node is reached and left, s; they differ at a red light. */
  readonly #reached: Float64Array;
  readonly #left: Float64Array;

  constructor(route: Route) {
    const cells = Math.round(route.length / CELL);
    this.#cell = route.length / cells;
    this.#square = new Float64Array(cells + 1);
    this.#reached = new Float64Array(cells + 1);
    this.#left = new Float64Array(cells + 1);
    const wait = new Float64Array(cells + 1);
    for (const light of route.lights) wait[Math.round(light.at / this.#cell)] = light.wait;
    const square = this.#square;
    for (let i = 0; i <= cells; i++) {
      const here = i * this.#cell;
      let limit = CRUISE * CRUISE;
      for (const bend of route.bends) {
        if (here >= bend.from - this.#cell && here <= bend.to + this.#cell) {
          limit = Math.min(limit, SIDEWAYS / Math.abs(bend.curvature));
        }
      }
      const stands = i === 0 || i === cells || (wait[i] as number) > 0;
      const gained = i === 0 ? 0 : (square[i - 1] as number) + 2 * PULL * this.#cell;
      square[i] = stands ? 0 : Math.min(limit, gained);
    }
    for (let i = cells - 1; i >= 0; i--) {
      square[i] = Math.min(square[i] as number, (square[i + 1] as number) + 2 * BRAKE * this.#cell);
    }
    for (let i = 1; i <= cells; i++) {
      const both = Math.sqrt(square[i - 1] as number) + Math.sqrt(square[i] as number);
      this.#reached[i] = (this.#left[i - 1] as number) + (2 * this.#cell) / both;
      this.#left[i] = (this.#reached[i] as number) + (wait[i] as number);
    }
    this.duration = this.#reached[cells] as number;
  }

  /** The motion `time` s after the start; before it and after the end the car stands. */
  at(time: number): Motion {
    const last = this.#square.length - 1;
    if (time <= 0) return { distance: 0, speed: 0, acceleration: 0 };
    if (time >= this.duration) return { distance: last * this.#cell, speed: 0, acceleration: 0 };
    let low = 0;
    let high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#reached[middle] as number) <= time) low = middle;
      else high = middle;
    }
    const since = time - (this.#left[low] as number);
    if (since < 0) return { distance: low * this.#cell, speed: 0, acceleration: 0 };
    const from = this.#square[low] as number;
    const acceleration = ((this.#square[high] as number) - from) / (2 * this.#cell);
    const initial = Math.sqrt(from);
    return {
      distance: low * this.#cell + initial * since + (acceleration * since * since) / 2,
      speed: initial + acceleration * since,
      acceleration,
    };
  }
}
