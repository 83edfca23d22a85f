/** A recorded drive: the frames on the bench car's bus during its scripted day. Every run produces the same bytes. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { DbcCodec, parseDbc } from '../../adapters/can/dbc/index.ts';
import { formatCandump } from '../../adapters/can/log/index.ts';
import { ReplayClock } from '../../adapters/clock/replay.ts';
import { SimulatedCar } from '../../adapters/simulated/index.ts';
import { benchNetwork } from './network.ts';

/** 2026-01-01T00:00:00Z. */
const start = 1_767_225_600_000;
/** Time in ms between two steps of the simulated car. */
const tick = 20;

/** Writes the first `frames` frames as `candump -L` would. Returns the duration of the drive in s. */
export async function writeDrive(frames: number, file: string): Promise<number> {
  const { database } = parseDbc(readFileSync(benchNetwork), benchNetwork);
  const clock = new ReplayClock();
  clock.advanceTo(start);
  const car = new SimulatedCar({ clock, codec: new DbcCodec([{ database }]) });
  const descriptor = openSync(file, 'w');
  let left = frames;
  await car.start((batch) => {
    const lines: string[] = [];
    for (let i = 0; i < batch.count && left > 0; i++, left--) lines.push(formatCandump(batch, i, car.buses));
    if (lines.length > 0) writeSync(descriptor, `${lines.join('\n')}\n`);
  });
  let at = start;
  while (left > 0) {
    at += tick;
    clock.advanceTo(at);
  }
  await car.stop();
  closeSync(descriptor);
  return (at - start) / 1000;
}
