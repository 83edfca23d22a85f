import type { Route } from './route.ts';

/** Speed on straight roads in m/s (57.6 km/h) of a driver without a configured speed. */
const CRUISE = 16;
/** Lateral acceleration in m/s² that the driver accepts in a bend. */
const SIDEWAYS = 2;
/** Acceleration and braking of the driver in m/s². */
const PULL = 1.7;
const BRAKE = 1.9;
/** Length of the cells of constant acceleration that compose a drive, about 1 m. */
const CELL = 1;
/** Duration in s of a collision. */
const IMPACT = 0.1;

/** Position and movement of the car at one time of a drive. */
export interface Motion {
  /** Distance in m from the start of the drive. */
  readonly distance: number;
  /** Speed in m/s. */
  readonly speed: number;
  /** Longitudinal acceleration in m/s². */
  readonly acceleration: number;
}

/** Options of a drive. */
export interface DriveOptions {
  /** Start of the drive in m from the start of the route; default 0. */
  readonly from?: number;
  /** Distance in m; longer than the route means further laps. Default: one lap. */
  readonly way?: number;
  /** Wait in s at a traffic light. Default: the wait of each light of the route. */
  readonly red?: number;
  /** Speed on straight roads in m/s. */
  readonly cruise?: number;
  /** True if the car does not brake at the end but collides with a stationary obstacle. */
  readonly crash?: boolean;
}

/**
 * One drive along the route, from standstill to standstill. Acceleration is constant within a cell, so distance, speed
 * and acceleration are exact integrals and derivatives of each other at any time; also in a collision, whose pulse is
 * half a sine.
 */
export class Drive {
  /** Duration in s. */
  readonly duration: number;
  /** Length in m. */
  readonly length: number;
  /** Time in s and speed in m/s of the collision; undefined if there is none. */
  readonly impact: { readonly at: number; readonly speed: number } | undefined;
  readonly #cell: number;
  /** Square of the speed at each node in m²/s². */
  readonly #square: Float64Array;
  /** Times in s at which each node is reached and left; they differ at a red light. */
  readonly #reached: Float64Array;
  readonly #left: Float64Array;

  constructor(route: Route, options: DriveOptions = {}) {
    const { from = 0, way = route.length, cruise = CRUISE, crash = false } = options;
    const cells = Math.round(way / CELL);
    this.#cell = way / cells;
    this.#square = new Float64Array(cells + 1);
    this.#reached = new Float64Array(cells + 1);
    this.#left = new Float64Array(cells + 1);
    const wait = this.#waits(route, options, cells);
    const square = this.#square;
    for (let i = 0; i <= cells; i++) {
      const here = route.along(from + i * this.#cell);
      let limit = cruise * cruise;
      for (const bend of route.bends) {
        if (here >= bend.from - this.#cell && here <= bend.to + this.#cell) {
          limit = Math.min(limit, SIDEWAYS / Math.abs(bend.curvature));
        }
      }
      const stands = i === 0 || (i === cells && !crash) || (wait[i] as number) > 0;
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
    const arrival = this.#reached[cells] as number;
    const speed = Math.sqrt(square[cells] as number);
    this.impact = crash ? { at: arrival, speed } : undefined;
    this.duration = arrival + (crash ? IMPACT : 0);
    this.length = cells * this.#cell + (speed * IMPACT) / 2;
  }

  /** Returns the motion `time` s after the start; before the start and after the end the car stands. */
  at(time: number): Motion {
    const last = this.#square.length - 1;
    if (time <= 0) return { distance: 0, speed: 0, acceleration: 0 };
    if (time >= this.duration) return { distance: this.length, speed: 0, acceleration: 0 };
    if (this.impact !== undefined && time >= this.impact.at) return this.#collide(time - this.impact.at);
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

  /** Returns the motion `since` s after the collision. */
  #collide(since: number): Motion {
    const { speed } = this.impact as { speed: number };
    const angle = (Math.PI * since) / IMPACT;
    return {
      distance: (this.#square.length - 1) * this.#cell + (speed * (since + (IMPACT / Math.PI) * Math.sin(angle))) / 2,
      speed: (speed * (1 + Math.cos(angle))) / 2,
      acceleration: (-speed * Math.PI * Math.sin(angle)) / (2 * IMPACT),
    };
  }

  /** Returns the waiting time in s at each node, for every time that the drive passes a light. */
  #waits(route: Route, { from = 0, red }: DriveOptions, cells: number): Float64Array {
    const waits = new Float64Array(cells + 1);
    for (const light of route.lights) {
      const lap = Math.ceil((from - light.at) / route.length);
      for (let at = light.at + lap * route.length - from; at < cells * this.#cell; at += route.length) {
        waits[Math.round(at / this.#cell)] = red ?? light.wait;
      }
    }
    return waits;
  }
}
