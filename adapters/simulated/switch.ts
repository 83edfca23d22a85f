/** Something of the car that is on or off, and takes its time to become so: lock motors, a relay. */
export class Switch {
  /** The present state. A write takes effect at once, as if by hand. */
  on: boolean;
  readonly #travel: number;
  readonly #longest: number;
  /** Where it is heading, and ms until it is there. */
  #goal: boolean | undefined;
  #rest = 0;
  /** ms that it has been on. */
  #onFor = 0;

  /**
   * @param travel ms from the request to the new state
   * @param longest ms after which it goes off by itself
   */
  constructor(on: boolean, travel: number, longest = Number.POSITIVE_INFINITY) {
    this.on = on;
    this.#travel = travel;
    this.#longest = longest;
  }

  /** It is on its way. */
  get moving(): boolean {
    return this.#goal !== undefined;
  }

  /** Asks for a state; `late` ms are added to its time. Nothing happens when it is so, or on its way there. */
  request(on: boolean, late: number): void {
    if (on === (this.#goal ?? this.on)) return;
    this.#goal = on;
    this.#rest = this.#travel + late;
  }

  /** Lets `ms` of the car's time pass. */
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
