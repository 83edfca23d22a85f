/** Passes all frames to a listener for a while. Without a listener a batch costs one comparison and a frame nothing. */
import type { FrameBatch, FrameSource } from '../agent/ports.ts';

/** `buses` are the names that the batch's `bus` indexes. The batch may not be kept. */
type FrameListener = (batch: FrameBatch, buses: readonly string[]) => void;

export class FrameTap {
  #listener: FrameListener | undefined;

  /** Calls `receive` before the listener, so that Status has the privacy of these frames when the listener reads it. */
  behind(receive: (batch: FrameBatch) => void, source: Pick<FrameSource, 'buses'>): (batch: FrameBatch) => void {
    return (batch) => {
      receive(batch);
      this.#listener?.(batch, source.buses);
    };
  }

  /** One listener at a time; undefined: no listener. */
  set listener(listener: FrameListener | undefined) {
    this.#listener = listener;
  }
}
