/**
 * Prints how large the frames of a capture are, compared with the same frames as packed candump and MDF4. The frames
 * come from the drive of the bench car, or from a log. `node scripts/capture-size.ts [LOG]`
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { append, createBatch, slice } from '../adapters/can/frames.ts';
import { formatCandump, openLog } from '../adapters/can/log/index.ts';
import type { FrameBatch } from '../agent/ports.ts';
import { deflate } from '../assembly/deflate.ts';
import { packFrames } from '../protocol/captures/capture.ts';
import { captureBounds } from '../protocol/schema/capture.ts';
import { mdf4 } from '../test/adapters/can/log/mdf4-writer.ts';
import { writeDrive } from './benchmark/drive-log.ts';

/** Largest number of frames: 30 s before and 10 s after an event on two busy buses. */
const MOST = 160_000;

async function read(file: string): Promise<{ frames: FrameBatch; buses: readonly string[] }> {
  const frames = createBatch(MOST, MOST * 64);
  const log = await openLog(file);
  for await (const batch of log.batches()) {
    for (let i = 0; i < batch.count && frames.count < MOST; i++) {
      const { at, id, bus, flags, length, offset, data } = batch;
      const begin = offset[i] as number;
      const bytes = data.subarray(begin, begin + (length[i] as number));
      append(frames, at[i] as number, id[i] as number, bus[i] as number, flags[i] as number, bytes, bytes.length);
    }
  }
  const { buses } = log;
  await log.close();
  return { frames, buses };
}

const scratch = mkdtempSync(join(tmpdir(), 'vigie-capture-size-'));
try {
  const [given] = process.argv.slice(2);
  const file = given ?? join(scratch, 'drive.log');
  if (given === undefined) await writeDrive(MOST, file);
  const { frames, buses } = await read(file);
  let ours = 0;
  for (let from = 0; from < frames.count; from += captureBounds.frames) {
    const part = slice(frames, from, Math.min(frames.count, from + captureBounds.frames));
    ours += packFrames(part, 0, deflate).columns.length;
  }
  let text = '';
  for (let i = 0; i < frames.count; i++) text += `${formatCandump(frames, i, buses)}\n`;
  const listed = Array.from({ length: frames.count }, (_, i) => {
    const [begin, length] = [frames.offset[i] as number, frames.length[i] as number];
    const data = Buffer.from(frames.data.subarray(begin, begin + length)).toString('hex');
    const [at, id, flags] = [frames.at[i] as number, frames.id[i] as number, frames.flags[i] as number];
    return { at, id, bus: `can${frames.bus[i]}`, flags, length, data };
  });
  const recording = { sorted: true, bytes: 'fixed', time: 'float', ide: 'bit' } as const;
  const sizes = {
    'columns of a capture': ours,
    'candump.gz': gzipSync(text).length,
    'MDF4, plain': mdf4(listed, { ...recording, packing: 'plain' }).length,
    'MDF4, transposed and deflated': mdf4(listed, { ...recording, packing: 'transposed' }).length,
    candump: given === undefined ? readFileSync(file).length : text.length,
  };
  for (const [name, bytes] of Object.entries(sizes)) {
    process.stdout.write(`${name}: ${(bytes / frames.count).toFixed(2)} bytes a frame (${frames.count} frames)\n`);
  }
} finally {
  rmSync(scratch, { recursive: true });
}
