import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryOutboxStore } from '../../../adapters/store/memory.ts';
import type { OutboxStore } from '../../../agent/ports.ts';
import { outboxStoreContract } from '../../contracts/outbox-store.ts';
import { entriesIn, numbersIn, outboxEntry } from './entries.ts';
import { type FileOutboxStore, openOutboxStore } from './outbox-alone.ts';
import { SimulatedDisk } from './simulated-disk.ts';

let root: string;
let made = 0;
const freshDirectory = (): string => join(root, String(made++), 'outbox');

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'vigie-outbox-'));
});
afterAll(() => rmSync(root, { recursive: true }));

outboxStoreContract('memory store', { create: async () => memoryOutboxStore() });
outboxStoreContract('file store', { create: () => openOutboxStore(freshDirectory()) });
outboxStoreContract('file store of tiny segments', {
  create: () => openOutboxStore(freshDirectory(), { segmentBytes: 100 }),
});
outboxStoreContract('store on a disk that takes nothing', {
  create: async () => {
    const files = new SimulatedDisk();
    files.fault = () => 'EROFS';
    const store = await openOutboxStore('/outbox', { files });
    // This contract does not require data on disk, only that the store continues in memory.
    const commit = async (): Promise<void> => {
      const nothingToWrite = files.operations;
      const outcome = await store.commit().catch((error: unknown) => error);
      if (files.operations === nothingToWrite) expect(outcome).toBeUndefined();
      else expect(outcome).toMatchObject({ code: 'store.failed', where: '/outbox/00000001.journal' });
    };
    return Object.create(store, { commit: { value: commit } }) as OutboxStore;
  },
});

const append = (store: OutboxStore, priorityClass: number, count: number): void => {
  for (let i = 0; i < count; i++) store.append(outboxEntry(priorityClass, store.nextSeq(priorityClass)));
};

describe('file store', () => {
  it('has all entries after it is reopened', async () => {
    const directory = freshDirectory();
    const store = await openOutboxStore(directory);
    append(store, 1, 3);
    append(store, 0, 2);
    store.acknowledge(1, 1);
    await store.close();
    const again = await openOutboxStore(directory);
    expect(entriesIn(again)).toEqual([outboxEntry(0, 0), outboxEntry(0, 1), outboxEntry(1, 0), outboxEntry(1, 2)]);
    expect([again.nextSeq(0), again.nextSeq(1)]).toEqual([2, 3]);
    expect(again.bytes).toBe(store.bytes);
    expect(again.metrics).toMatchObject({ damaged: 0, torn: 0, unknown: 0, malformed: 0 });
    await again.close();
  });

  it('lists given-up messages, over restarts and after their segment was deleted, until the gap is known', async () => {
    const directory = freshDirectory();
    let store = await openOutboxStore(directory, { segmentBytes: 1000 });
    append(store, 1, 5);
    append(store, 4, 8);
    await store.commit();
    for (const seq of [2, 3]) store.giveUp(1, seq);
    for (const seq of [0, 1, 5]) store.giveUp(4, seq);
    // A message that does not exist cannot be given up.
    store.giveUp(4, 99);
    for (let i = 0; i < 100; i++) {
      append(store, 0, 1);
      await store.commit();
      store.acknowledge(0, i);
    }
    for (const seq of [2, 3, 4, 6, 7]) store.acknowledge(4, seq);
    const owed = [
      { class: 1, numbers: [[2, 3]] },
      {
        class: 4,
        numbers: [
          [0, 1],
          [5, 5],
        ],
      },
    ];
    for (let start = 0; start < 3; start++) {
      expect([...store.owed()]).toEqual(owed);
      expect(numbersIn(store)).toEqual(['1/0', '1/1', '1/4']);
      await store.close();
      store = await openOutboxStore(directory, { segmentBytes: 1000 });
    }
    store.gapKnown({ class: 4, numbers: [[0, 1]] });
    store.gapKnown({ class: 1, numbers: [[2, 3]] });
    await store.close();
    store = await openOutboxStore(directory);
    expect([...store.owed()]).toEqual([{ class: 4, numbers: [[5, 5]] }]);
    await store.close();
  });

  it('still has a given-up message if the process was killed before that was written', async () => {
    const files = new SimulatedDisk();
    const store = await openOutboxStore('/outbox', { files });
    append(store, 1, 3);
    await store.commit();
    store.giveUp(1, 1);
    await store.commit();
    // Its record is still in the segment. The outbox has recorded that it gave the message up, and does so again.
    const after = await openOutboxStore('/outbox', { files: files.powerCut(() => true) });
    expect(numbersIn(after)).toEqual(['1/0', '1/1', '1/2']);
    expect([...after.owed()]).toEqual([]);
    expect(after.nextSeq(1)).toBe(3);
  });

  it('keeps the counters when all entries are gone, through compaction and many restarts', async () => {
    const directory = freshDirectory();
    for (let round = 0; round < 20; round++) {
      const store = await openOutboxStore(directory, { segmentBytes: 2000 });
      expect([store.nextSeq(0), store.nextSeq(4)]).toEqual([round * 50, 0]);
      for (let i = 0; i < 50; i++) {
        append(store, 0, 1);
        await store.commit();
        store.acknowledge(0, store.nextSeq(0) - 1);
      }
      await store.close();
    }
    expect(readdirSync(directory).length).toBeLessThan(6);
  });

  it('compacts segments despite one old entry', async () => {
    const directory = freshDirectory();
    const store = await openOutboxStore(directory, { segmentBytes: 4096 });
    append(store, 5, 1);
    for (let i = 0; i < 200; i++) {
      append(store, 0, 10);
      await store.commit();
      for (let seq = i * 10; seq < i * 10 + 10; seq++) if (seq % 100 !== 0) store.acknowledge(0, seq);
    }
    await store.close();
    const live = 21;
    expect(readdirSync(directory).length).toBeLessThan(10);
    const again = await openOutboxStore(directory);
    expect(numbersIn(again)).toHaveLength(live);
    expect(again.nextSeq(0)).toBe(2000);
    expect(again.nextSeq(5)).toBe(1);
    expect(store.metrics.moved).toBeGreaterThan(0);
    expect(store.metrics.moved).toBeLessThan(store.metrics.written / 2);
  });

  it('combines simultaneous commits into one flush, and later ones into the next', async () => {
    const files = new SimulatedDisk();
    const store = await openOutboxStore('/outbox', { files });
    // The first number of a class causes a write of the manifest.
    append(store, 0, 1);
    append(store, 1, 1);
    await store.commit();
    let release = (): void => undefined;
    files.pause = new Promise((resolve) => {
      release = resolve;
    });
    const before = files.syncs;
    const first = Array.from({ length: 10 }, () => {
      append(store, 0, 1);
      return store.commit();
    });
    // The first flush starts after its bytes were written. Later commits share the second flush.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const second = Array.from({ length: 10 }, () => {
      append(store, 1, 1);
      return store.commit();
    });
    release();
    await Promise.all([...first, ...second]);
    expect(files.syncs - before).toBe(2);
    expect(numbersIn(await openOutboxStore('/outbox', { files: files.powerCut(() => false) }))).toEqual(
      numbersIn(store),
    );
  });

  it('writes an acknowledgement within a turn of the event loop, and flushes it without a commit', async () => {
    const files = new SimulatedDisk();
    const store = await openOutboxStore('/outbox', { files, settleWithin: 20 });
    append(store, 0, 2);
    await store.commit();
    const flushed = new Promise<void>((resolve) => {
      files.onSync = resolve;
    });
    store.acknowledge(0, 0);
    // Changes within one turn of the event loop are written together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    // A killed process leaves the page cache.
    expect(numbersIn(await openOutboxStore('/outbox', { files: files.powerCut(() => true) }))).toEqual(['0/1']);
    await flushed;
    expect(numbersIn(await openOutboxStore('/outbox', { files: files.powerCut(() => false) }))).toEqual(['0/1']);
  });

  it('refuses an entry that is too long for a record', async () => {
    const store = await openOutboxStore(freshDirectory());
    const entry = outboxEntry(0, 0, 0xff_ffff);
    expect(() => store.append(entry)).toThrow(expect.objectContaining({ code: 'message.unbounded' }));
    expect(store.nextSeq(0)).toBe(0);
    await store.close();
  });

  it('reports use after close, and can be closed twice', async () => {
    const store: FileOutboxStore = await openOutboxStore(freshDirectory());
    append(store, 0, 1);
    await Promise.all([store.close(), store.close()]);
    await expect(store.commit()).rejects.toThrow(expect.objectContaining({ code: 'store.failed' }));
  });

  it('refuses to start if its directory cannot be listed', async () => {
    const files = new SimulatedDisk();
    files.list = () => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
    };
    const opening = openOutboxStore('/outbox', { files });
    await expect(opening).rejects.toThrow(expect.objectContaining({ code: 'store.unreadable', where: '/outbox' }));
  });
});
