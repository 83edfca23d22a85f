/** Batches of frames for tests of what recordings contain. */
import { append, createBatch } from '../../../../adapters/can/frames.ts';
import { Traffic } from '../../../../adapters/can/inspect/index.ts';
import type { FrameBatch } from '../../../../agent/ports.ts';

export interface TestFrame {
  /** UTC milliseconds. */
  readonly at: number;
  /** Identifier with EXTENDED, REMOTE and ERROR bits. */
  readonly id: number;
  readonly data: readonly number[] | Uint8Array;
  readonly bus?: number;
  readonly flags?: number;
}

export function batchOf(frames: readonly TestFrame[]): FrameBatch {
  const batch = createBatch(frames.length, frames.length * 64);
  for (const { at, id, data, bus = 0, flags = 0 } of frames) {
    append(batch, at, id >>> 0, bus, flags, Uint8Array.from(data), data.length);
  }
  return batch;
}

/** Statistics of these frames on buses called can0, can1, …. */
export function trafficOf(frames: readonly TestFrame[], names: readonly string[] = ['can0', 'can1']): Traffic {
  const traffic = new Traffic();
  traffic.add(batchOf(frames), names);
  return traffic;
}
