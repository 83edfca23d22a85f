import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { append, createBatch } from '../../../../adapters/can/frames.ts';
import { CandumpFile, CandumpRecorder, openLog } from '../../../../adapters/can/log/index.ts';
import { EXTENDED, type FrameBatch } from '../../../../agent/ports.ts';
import type { LogEvent } from '../../../../protocol/log-events.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-recorder-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const T = Date.UTC(2026, 0, 1);
const said: string[] = [];
const log = { info: () => undefined, warn: () => undefined, error: (event: LogEvent) => void said.push(event) };

function batchOf(frames: readonly { at: number; id: number; data: Uint8Array }[]): FrameBatch {
  const batch = createBatch(Math.max(1, frames.length), 64 * Math.max(1, frames.length));
  for (const { at, id, data } of frames) append(batch, at, id, 0, 0, data, data.length);
  return batch;
}

async function read(path: string) {
  const reader = await openLog(path);
  const frames: { at: number; id: number; data: number[] }[] = [];
  for await (const batch of reader.batches()) {
    for (let i = 0; i < batch.count; i++) {
      const offset = batch.offset[i] as number;
      const data = [...batch.data.subarray(offset, offset + (batch.length[i] as number))];
      frames.push({ at: batch.at[i] as number, id: batch.id[i] as number, data });
    }
  }
  await reader.close();
  return frames;
}

test('frames that were written are read back', async () => {
  const frame = fc.record({
    id: fc.oneof(
      fc.nat(0x7ff),
      fc.nat(0x1fff_ffff).map((id) => (id | EXTENDED) >>> 0),
    ),
    data: fc.uint8Array({ maxLength: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(frame, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 6 }),
      async (batches) => {
        const path = join(folder, 'copy.log');
        const file = new CandumpFile(path);
        let at = T;
        const all = batches.map((frames) => frames.map((one) => ({ ...one, at: ++at })));
        for (const frames of all) file.write(batchOf(frames), ['can0']);
        file.close();
        expect(statSync(path).size).toBe(file.bytes);
        expect(await read(path)).toEqual(all.flat().map(({ data, ...one }) => ({ ...one, data: [...data] })));
      },
    ),
    { numRuns: 50 },
  );
});

test('a new file starts at the size limit, and the oldest files are deleted', async () => {
  const recorder = new CandumpRecorder({ folder, size: 500, keep: 3, log });
  for (let n = 0; n < 100; n++) {
    recorder.write(batchOf([{ at: T + n * 1000, id: 0x123, data: Uint8Array.of(n) }]), ['can0']);
  }
  recorder.close();
  const names = readdirSync(folder).sort();
  expect(names).toHaveLength(3);
  const kept = (await Promise.all(names.map((name) => read(join(folder, name))))).flat();
  expect(kept.at(-1)?.data).toEqual([99]);
  expect(kept.map(({ data }) => data[0])).toEqual(kept.map((_, n) => 100 - kept.length + n));
  for (const name of names) expect(statSync(join(folder, name)).size).toBeLessThan(600);
});

test('flushed frames survive a crash, and a second run adds files', () => {
  const frame = (n: number) => batchOf([{ at: T + n, id: 1, data: Uint8Array.of(n) }]);
  const first = new CandumpRecorder({ folder, size: 1e6, keep: 3, log });
  first.write(frame(1), ['can0']);
  first.flush();
  expect(readFileSync(join(folder, readdirSync(folder)[0] as string), 'latin1')).toMatch(/can0 001#01\n$/);
  const second = new CandumpRecorder({ folder, size: 1e6, keep: 3, log });
  second.write(frame(1), ['can0']);
  second.close();
  first.close();
  expect(readdirSync(folder)).toHaveLength(2);
});

test('a folder that cannot be written to is reported once; lost frames are counted, and writing is retried', () => {
  said.length = 0;
  const recorder = new CandumpRecorder({ folder: join(folder, 'recordings'), size: 1e6, keep: 3, log });
  rmSync(join(folder, 'recordings'), { recursive: true });
  const frames = batchOf(Array.from({ length: 1000 }, (_, n) => ({ at: T + n, id: 1, data: new Uint8Array(8) })));
  for (let n = 0; n < 5; n++) recorder.write(frames, ['can0']);
  expect(said).toEqual(['recorder.failed']);
  expect(recorder.unrecorded).toBe(5000);
  const again = new CandumpRecorder({ folder: join(folder, 'recordings'), size: 1e6, keep: 3, log });
  again.close();
  for (let n = 0; n < 20; n++) recorder.write(frames, ['can0']);
  recorder.close();
  expect(readdirSync(join(folder, 'recordings'))).toHaveLength(1);
  expect(recorder.unrecorded).toBeLessThan(16_000);
});

test('a file that cannot be created is an error with its name', () => {
  chmodSync(folder, 0o755);
  expect(() => new CandumpFile(join(folder, 'no', 'such.log'))).toThrow(/no\/such\.log: cannot be written/);
});
