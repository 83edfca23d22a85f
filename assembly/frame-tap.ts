/** Passes all frames to a listener for a while. Without a listener a batch costs one comparison and a frame nothing. */
import type { FrameBatch } from '../agent/ports.ts';

/** `buses` are the names that the batch's `bus` indexes. The batch may not be kept. */
type FrameListener = (batch: FrameBatch, buses: readonly string[]) => void;

export class FrameTap {
  #listener: FrameListener | undefined;

  /** Call when the batch has become Status: a listener reads the privacy of these frames there. */
  take(batch: FrameBatch, buses: readonly string[]): void {
    this.#listener?.(batch, buses);
  }

  /** One listener at a time; undefined: no listener. */
  set listener(listener: FrameListener | undefined) {
    this.#listener = listener;
  }
}
