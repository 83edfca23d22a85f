/** Passes all frames to a temporary listener. If there is none, the cost is one comparison per batch. */
import type { FrameBatch } from '../agent/ports.ts';

/** The batch's `bus` is an index into `buses`. The listener must not keep the batch. */
type FrameListener = (batch: FrameBatch, buses: readonly string[]) => void;

export class FrameTap {
  #listener: FrameListener | undefined;

  /** Call after the batch has updated Status, where the listener reads the privacy that applies to these frames. */
  take(batch: FrameBatch, buses: readonly string[]): void {
    this.#listener?.(batch, buses);
  }

  /** The current listener, or undefined. There is at most one. */
  set listener(listener: FrameListener | undefined) {
    this.#listener = listener;
  }
}
