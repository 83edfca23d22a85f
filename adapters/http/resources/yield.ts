/** Longest work without a pause, ms. */
const STRETCH = 4;

/** Interrupts long work, so that other requests and frames do not wait for it. */
export class Yielder {
  #since = performance.now();

  /** Call between two parts of the work: yields to the event loop when the time is over. */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < STRETCH) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
