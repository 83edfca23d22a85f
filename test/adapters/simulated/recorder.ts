import { SimulatedCar, type SimulatedCarOptions } from '../../../adapters/simulated/index.ts';
import type { FrameBatch } from '../../../agent/ports.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { codec } from './network.ts';

/** A frame on the bus. */
export interface Seen {
  readonly at: number;
  readonly id: number;
  readonly data: Uint8Array;
  readonly message: string;
  readonly signals: Readonly<Record<string, number>>;
}

/** A started car on a separate clock. `seen` records the frames sent since it was last emptied. */
export async function startCar(options: Partial<SimulatedCarOptions> = {}) {
  const clock = new VirtualClock();
  const car = new SimulatedCar({ clock, codec, ...options });
  const seen: Seen[] = [];
  const batches: number[] = [];
  await car.start((batch) => {
    batches.push(batch.count);
    collect(batch, seen);
  });
  return { clock, car, seen, batches };
}

/** Times and bytes of `seen`, to compare two recordings. */
export function transcript(seen: readonly Seen[]): string[] {
  return seen.map((frame) => `${frame.at.toFixed(3)} ${frame.id} ${Buffer.from(frame.data).toString('hex')}`);
}

function collect(batch: FrameBatch, seen: Seen[]): void {
  for (let i = 0; i < batch.count; i++) {
    const offset = batch.offset[i] as number;
    const data = batch.data.slice(offset, offset + (batch.length[i] as number));
    const id = batch.id[i] as number;
    const decoded = codec.decode({ id, flags: 0, data });
    if (decoded === undefined) throw new Error(`frame ${id.toString(16)} is not in the network description`);
    seen.push({ at: batch.at[i] as number, id, data, ...decoded });
  }
}
