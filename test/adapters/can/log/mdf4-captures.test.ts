/** Converts captures to MDF4 and reads the files back with the reader of MDF4 logs. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { append, createBatch } from '../../../../adapters/can/frames.ts';
import { mdf4Of } from '../../../../adapters/can/log/mdf4/writer.ts';
import { ERROR, type FrameBatch } from '../../../../agent/ports.ts';
import { anyFrames, type Frame, inMicroseconds, readText } from './frames.ts';

const start = 1_436_509_052_000;

function batchOf(frames: readonly Frame[], buses: readonly string[]): FrameBatch {
  const batch = createBatch(Math.max(1, frames.length), Math.max(64, 64 * frames.length));
  for (const { at, id, bus, flags, length, data } of frames) {
    append(batch, at, id, buses.indexOf(bus), flags, Buffer.from(data, 'hex'), length);
  }
  return batch;
}

/** Sorts by time. Files do not define the order of frames with equal times, so the rest of the key is arbitrary. */
function ordered(frames: readonly Frame[]): Frame[] {
  const key = ({ id, bus, flags, data }: Frame): string => `${id} ${bus} ${flags} ${data}`;
  return [...frames].sort((a, b) => a.at - b.at || key(a).localeCompare(key(b)));
}

test('frames of any kind and length are read back, with numbers as bus names', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyFrames({ fd: true, remote: true, sent: true }).filter((frames) => frames.length > 0),
      async (frames) => {
        const buses = [...new Set(frames.map(({ bus }) => bus))];
        const half = Math.ceil(frames.length / 2);
        const parts = [frames.slice(0, half), frames.slice(half)];
        const bytes = mdf4Of(parts.map((part) => ({ frames: batchOf(part, buses), buses })));
        const { format, frames: found, faults } = await readText(bytes);
        expect([format, faults]).toEqual(['mdf4', 0]);
        const expected = inMicroseconds(frames).map((frame) => ({ ...frame, bus: `can${buses.indexOf(frame.bus)}` }));
        expect(ordered(inMicroseconds(found))).toEqual(ordered(expected));
      },
    ),
    { numRuns: 50, seed: 20_261_123 },
  );
});

test('error frames and late frames are read in the order of their times', async () => {
  const frame = (at: number, id: number): Frame => ({ at, id, bus: 'a', flags: 0, length: 1, data: '07' });
  const frames = [frame(start + 2, 1), frame(start + 1, 2), frame(start + 3, (0x20 | ERROR) >>> 0)];
  const { frames: found } = await readText(mdf4Of([{ frames: batchOf(frames, ['a']), buses: ['a'] }]));
  // MDF4 lacks the error classes of SocketCAN, so the reader reports the class of any bus error.
  expect(found.map(({ at, id }) => [at - start, id])).toEqual([
    [1, 2],
    [2, 1],
    [3, (0x80 | ERROR) >>> 0],
  ]);
});
