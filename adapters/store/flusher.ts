/**
 * Decides when to flush synchronously. An fdatasync of 0.1 ms (NVMe, a disk with a safe cache) ends before a thread of
 * Node's pool would have answered; one of 5 ms (eMMC, SD) must not block the event loop. So flushes run in the
 * background until the medium has proved fast, and again after the first slow flush.
 */
import type { OpenFile } from './files.ts';
import { type StoreTimer, systemTimer } from './journal-options.ts';

/** Maximum duration of a fast flush in the background, its wait for a thread included, ms. */
const quick = 2;
/** Duration from which a synchronous flush is too slow, ms. */
const slow = 4;
/** Fast flushes required before the next is synchronous; each flush that is not fast subtracts a quarter of them. */
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
