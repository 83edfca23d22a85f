/** Data that was written before segments held groups, by the code of that time, and left by a killed process. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../../adapters/store/store.ts';
import { numbersIn, outboxEntry } from './entries.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const directory = fileURLToPath(new URL('./version-1', import.meta.url));
const names = readdirSync(directory);

function planted(): SimulatedDisk {
  const disk = new SimulatedDisk();
  for (const name of names) disk.plant(join('/data', name), new Uint8Array(readFileSync(join(directory, name))));
  return disk;
}

/** Classes 0 and 1 got 35 messages each, in turn; every third was acknowledged, and 3 to 14 of class 0. */
const live = Array.from({ length: 70 }, (_, i) => ({ priority: i % 2, seq: i >> 1, size: 10 + i, i })).filter(
  ({ priority, seq, i }) => i % 3 !== 2 && !(priority === 0 && seq >= 3 && seq < 15) && !(priority === 1 && seq === 34),
);
const expected = [
  ...live.sort((a, b) => a.priority - b.priority || a.seq - b.seq).map(({ priority, seq }) => `${priority}/${seq}`),
  '5/0',
  '5/1',
];

function expectAll({ outbox, metrics }: Store): void {
  expect(numbersIn(outbox)).toEqual(expected);
  expect([0, 1, 2, 3, 4, 5, 6, 7].map((one) => outbox.nextSeq(one))).toEqual([35, 35, 0, 0, 0, 2, 0, 3]);
  for (const { priority, seq, size } of live)
    expect(outbox.load(priority, seq)).toEqual(outboxEntry(priority, seq, size));
  expect([outbox.load(5, 0), outbox.load(5, 1)]).toEqual([outboxEntry(5, 0, 300), outboxEntry(5, 1, 0)]);
  expect(metrics).toMatchObject({ damaged: 0, torn: 0, unknown: 0, malformed: 0, unreadable: 0, aside: 0 });
}

describe('data of version 1', () => {
  it('is all there, and stays when it is written on', async () => {
    const disk = planted();
    const store = await openStore('/data', { files: disk, segmentBytes: 1500 });
    expectAll(store);
    store.memory.keep(() => [['boot', 2]]);
    store.outbox.append(outboxEntry(0, 35));
    await store.outbox.commit();
    store.outbox.acknowledge(0, 35);
    await store.outbox.commit();
    const after = await openStore('/data', { files: disk.powerCut(() => false) });
    expect(numbersIn(after.outbox)).toEqual(expected);
    expect([after.outbox.nextSeq(0), after.memory.recall('boot')]).toEqual([36, 2]);
  });

  it('moves on to new segments, and its files go but those of which most lives', async () => {
    const disk = planted();
    const store = await openStore('/data', { files: disk, segmentBytes: 500 });
    const { outbox } = store;
    for (let seq = 0; seq < 300; seq++) {
      outbox.append(outboxEntry(2, seq, 50));
      await outbox.commit();
      outbox.acknowledge(2, seq);
      if (seq < 25) outbox.acknowledge(0, seq);
      if (seq < 32) outbox.acknowledge(1, seq);
    }
    expect(store.metrics.moved).toBeGreaterThan(0);
    const left = ['0/26', '0/27', '0/29', '0/30', '0/32', '0/33', '1/33', '5/0', '5/1'];
    expect(numbersIn((await openStore('/data', { files: disk.powerCut(() => true) })).outbox).slice(0, 7)).toEqual(
      left.slice(0, 7),
    );
    await store.close();
    // Most of the last one lives.
    const files = disk.paths.filter((path) => names.some((name) => path === join('/data', name)));
    expect(files).toEqual(['/data/00000006.journal']);
    const after = await openStore('/data', { files: disk });
    expect(numbersIn(after.outbox)).toEqual(left);
    expect(after.outbox.load(5, 0)).toEqual(outboxEntry(5, 0, 300));
    expect(after.outbox.load(0, 26)).toEqual(outboxEntry(0, 26, 62));
  });

  it('is all there when it was cut or a byte of it changed, but for what lies there', async () => {
    for (const name of names) {
      const path = join('/data', name);
      const { length } = planted().read(path);
      for (let at = 0; at < length; at += 5) {
        const disk = planted();
        const bytes = disk.read(path);
        bytes[at] = bytes[at]! ^ 0x21;
        disk.plant(path, bytes);
        const found = numbersIn((await openStore('/data', { files: disk })).outbox);
        expect(expected.filter((one) => !found.includes(one)).length).toBeLessThanOrEqual(1);
      }
    }
  });
});
