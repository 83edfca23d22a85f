/** Work in one go until others have their turn, ms. */
const TURN = 4;

/** Lets others have their turn during work that may take long, so that their requests and frames do not wait for it. */
export class Turns {
  #since = performance.now();

  /** To be awaited between two pieces of the work. */
  async next(): Promise<void> {
    if (performance.now() - this.#since < TURN) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
