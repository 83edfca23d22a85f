/** A part of the car that is on or off and changes with a delay: lock motors, a relay. */
export class Switch {
  /** Present state. Assignment takes effect at once, as if by hand. */
  on: boolean;
  readonly #travel: number;
  readonly #longest: number;
  /** Requested state, and time in ms until it is reached. */
  #goal: boolean | undefined;
  #rest = 0;
  /** Time in ms since it was switched on. */
  #onFor = 0;

  /**
   * @param travel time in ms from the request to the new state
   * @param longest time in ms after which it switches off automatically
   */
  constructor(on: boolean, travel: number, longest = Number.POSITIVE_INFINITY) {
    this.on = on;
    this.#travel = travel;
    this.#longest = longest;
  }

  /** True while it changes. */
  get moving(): boolean {
    return this.#goal !== undefined;
  }

  /** Requests a state, with an additional delay of `late` ms. No effect if that is the present or the pending state. */
  request(on: boolean, late: number): void {
    if (on === (this.#goal ?? this.on)) return;
    this.#goal = on;
    this.#rest = this.#travel + late;
  }

  /** Advances the car's time by `ms`. */
  step(ms: number): void {
    this.#onFor = this.on ? this.#onFor + ms : 0;
    if (this.#onFor >= this.#longest) this.on = false;
    if (this.#goal === undefined) return;
    this.#rest -= ms;
    if (this.#rest > 0) return;
    this.on = this.#goal;
    this.#goal = undefined;
  }
}
