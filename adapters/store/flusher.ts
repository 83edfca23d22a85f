/**
 * Decides whether to flush synchronously. An fdatasync of 0.1 ms (NVMe, a disk with a safe cache) ends before a thread
 * of Node's pool would have responded; one of 5 ms (eMMC, SD) must not block the event loop. So flushes run in the
 * background until the medium has proved fast, and again after a slow synchronous flush.
 */
import type { OpenFile } from './files.ts';
import { type StoreTimer, systemTimer } from './journal-options.ts';

/** Maximum duration in ms of a background flush that counts as fast, including the wait for a thread. */
const quick = 2;
/** Maximum duration in ms of a synchronous flush; a slower one ends synchronous flushing. */
const slow = 4;
/** Fast flushes required before flushing becomes synchronous. Each other background flush cancels a quarter of them. */
const confidence = 32;

export class Flusher {
  readonly #timer: Pick<StoreTimer, 'monotonic'>;
  #trust = 0;

  constructor(timer: Pick<StoreTimer, 'monotonic'> = systemTimer) {
    this.#timer = timer;
  }

  /** True while flushes are synchronous. */
  get inPlace(): boolean {
    return this.#trust >= confidence;
  }

  /** Resolves when all writes to `file` so far are on the medium; rejects with the system's error. */
  async flush(file: OpenFile): Promise<void> {
    const began = this.#timer.monotonic();
    const inPlace = this.inPlace;
    try {
      if (inPlace) file.syncInPlace();
      else await file.sync();
    } catch (error) {
      this.#trust = 0;
      throw error;
    }
    const took = this.#timer.monotonic() - began;
    if (inPlace) {
      if (took > slow) this.#trust = 0;
    } else if (took <= quick) {
      this.#trust++;
    } else {
      this.#trust = Math.max(0, this.#trust - confidence / 4);
    }
  }
}
