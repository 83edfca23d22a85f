/** Passes all frames to a temporary listener. Without a listener it costs one comparison per batch, none per frame. */
import type { FrameBatch } from '../agent/ports.ts';

/** The batch's `bus` is an index into `buses`. The listener must not keep the batch. */
type FrameListener = (batch: FrameBatch, buses: readonly string[]) => void;

export class FrameTap {
  #listener: FrameListener | undefined;

  /** Call after the batch has updated Status: the listener reads the privacy of these frames there. */
  take(batch: FrameBatch, buses: readonly string[]): void {
    this.#listener?.(batch, buses);
  }

  /** The current listener, at most one; undefined: none. */
  set listener(listener: FrameListener | undefined) {
    this.#listener = listener;
  }
}
