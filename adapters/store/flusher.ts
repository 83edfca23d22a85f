/**
 * When to wait for the medium in place. An fdatasync that takes 0.1 ms (NVMe, a disk with a safe cache) is over
 * before a thread of Node's pool would have answered; one of 5 ms (eMMC, SD) must not stop the event loop. So
 * flushes run in the background until the medium has shown itself quick, and again as soon as one is slow.
 */
import type { OpenFile } from './files.ts';
import { type StoreTimer, systemTimer } from './journal-options.ts';

/** Milliseconds up to which a flush in the background counts as quick, its wait for a thread included. */
const quick = 2;
/** Milliseconds from which a flush in place was too long. */
const slow = 4;
/** Quick flushes after which the next is done in place; each that was not quick takes back a quarter of them. */
const confidence = 32;

export class Flusher {
  readonly #timer: Pick<StoreTimer, 'monotonic'>;
  #trust = 0;

  constructor(timer: Pick<StoreTimer, 'monotonic'> = systemTimer) {
    this.#timer = timer;
  }

  /** True while flushes are done in place. */
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
