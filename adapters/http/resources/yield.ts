/** Maximum time of work without a pause in ms. */
const STRETCH = 4;

/** Interrupts long work, so that other requests and frames do not wait for it. */
export class Yielder {
  #since = performance.now();

  /** Call between two steps of the work: yields to the event loop if the last pause was too long ago. */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < STRETCH) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
