/** Longest stretch of work without a pause, ms. */
const STRETCH = 4;

/** Pauses long work, so that other requests and frames do not wait for it. */
export class Yielder {
  #since = performance.now();

  /** Call between two pieces of the work: yields to the event loop when the stretch is over. */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < STRETCH) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
