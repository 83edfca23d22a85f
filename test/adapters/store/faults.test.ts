/** The outbox on a disk that fails, fills up, or loses its power. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FileOutboxStore, openOutboxStore } from '../../../adapters/store/outbox-store.ts';
import type { OutboxStore } from '../../../agent/ports.ts';
import { outboxEntry } from './entries.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const directory = '/data/outbox';
const numbers = (store: OutboxStore): string[] => [...store.entries()].map((entry) => `${entry.class}/${entry.seq}`);

function open(files: SimulatedDisk): Promise<FileOutboxStore> {
  return openOutboxStore(directory, { files, segmentBytes: 400 });
}

/** Appends to classes 0 and 1 and acknowledges, commits now and then; tells what a successful commit made durable. */
async function work(
  store: OutboxStore,
  rounds: number,
  committed: () => void,
  failed: (e: unknown) => void,
): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    const priorityClass = i % 2;
    store.append(outboxEntry(priorityClass, store.nextSeq(priorityClass)));
    if (i % 5 === 4) store.acknowledge(0, (i >> 1) - 2);
    if (i % 3 === 2) await store.commit().then(committed, failed);
  }
}

describe('an outbox on a disk that fails', () => {
  it('at any one operation says which file, keeps everything, and has it on disk with the next commit', async () => {
    const clean = new SimulatedDisk();
    await work(
      await open(clean),
      40,
      () => undefined,
      (error) => expect.unreachable(String(error)),
    );
    expect(clean.operations).toBeGreaterThan(40);
    for (let n = 1; n <= clean.operations; n++) {
      const files = new SimulatedDisk();
      files.fault = () => (files.operations === n ? 'EIO' : undefined);
      const store = await open(files);
      const failures: unknown[] = [];
      await work(
        store,
        40,
        () => undefined,
        (error) => failures.push(error),
      );
      for (const failure of failures) {
        expect(failure).toMatchObject({ code: 'store.failed', cause: { code: 'EIO' } });
        expect((failure as { where: string }).where).toMatch(/^\/data\/outbox\/\d{8}\.journal$/);
      }
      expect(failures.length).toBeLessThanOrEqual(1);
      await store.commit();
      const after = await open(files.powerCut(() => false));
      expect(numbers(after)).toEqual(numbers(store));
      expect([after.nextSeq(0), after.nextSeq(1)]).toEqual([20, 20]);
      expect(after.metrics).toMatchObject({ malformed: 0, unknown: 0, aside: 0 });
    }
  });

  it('and is full for long goes on in memory, leaves no litter, and catches up', async () => {
    for (const code of ['ENOSPC', 'EROFS']) {
      const files = new SimulatedDisk();
      const store = await open(files);
      await work(
        store,
        10,
        () => undefined,
        () => expect.unreachable(),
      );
      const before = files.paths.length;
      files.fault = (operation) => (operation === 'write' || code === 'EROFS' ? code : undefined);
      let failures = 0;
      await work(
        store,
        300,
        () => expect.unreachable(),
        () => failures++,
      );
      expect(failures).toBe(100);
      expect(files.paths.length).toBeLessThanOrEqual(before);
      const [first, second] = [store.nextSeq(0), store.nextSeq(1)];
      expect([first, second]).toEqual([155, 155]);
      // The youngest goes before it was ever written; its number is used up all the same.
      store.acknowledge(1, second - 1);
      files.fault = () => undefined;
      await store.commit();
      const after = await open(files.powerCut(() => false));
      expect(numbers(after)).toEqual(numbers(store));
      expect([after.nextSeq(0), after.nextSeq(1)]).toEqual([first, second]);
    }
  });

  it('at opening loses nothing of what can be read', async () => {
    const files = new SimulatedDisk();
    const store = await open(files);
    await work(
      store,
      40,
      () => undefined,
      () => expect.unreachable(),
    );
    await store.close();
    files.fault = () => 'EROFS';
    const reader = await open(files);
    expect(numbers(reader)).toEqual(numbers(store));
    reader.append(outboxEntry(0, reader.nextSeq(0)));
    await expect(reader.commit()).rejects.toThrow(expect.objectContaining({ code: 'store.failed' }));
    files.fault = () => undefined;
    await reader.commit();
    expect(numbers(await open(files.powerCut(() => false)))).toEqual(numbers(reader));
  });
});

describe('an outbox that loses its power', () => {
  it('at any operation has everything committed, whatever else reached the medium', async () => {
    const clean = new SimulatedDisk();
    await work(
      await open(clean),
      40,
      () => undefined,
      () => expect.unreachable(),
    );
    const total = clean.operations;
    const sequence = fc.infiniteStream(fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: total }), sequence, async (n, survives) => {
        const files = new SimulatedDisk();
        // From then on nothing changes any more: the process is gone.
        files.fault = () => (files.operations >= n ? 'EPOWER' : undefined);
        let live: string[] = [];
        let used = [0, 0];
        let everLive = new Set<string>();
        const store = await open(files);
        const dead = new Error('power cut');
        const run = work(
          store,
          40,
          () => {
            live = numbers(store);
            used = [store.nextSeq(0), store.nextSeq(1)];
            everLive = new Set([...everLive, ...live]);
          },
          () => {
            throw dead;
          },
        );
        await run.catch((error: unknown) => expect(error).toBe(dead));
        const acknowledgedSince = new Set(live.filter((name) => !numbers(store).includes(name)));
        const after = await open(files.powerCut(() => survives.next().value));
        const found = numbers(after);
        expect(found).toEqual(expect.arrayContaining(live.filter((name) => !acknowledgedSince.has(name))));
        // What was acknowledged before a commit does not come back.
        expect(found.filter((name) => everLive.has(name) && !live.includes(name))).toEqual([]);
        expect(after.nextSeq(0)).toBeGreaterThanOrEqual(used[0]!);
        expect(after.nextSeq(1)).toBeGreaterThanOrEqual(used[1]!);
        // And once more, with what was found.
        after.append(outboxEntry(1, after.nextSeq(1)));
        await after.commit();
        expect(after.metrics.malformed + after.metrics.unknown).toBe(0);
      }),
      { numRuns: 400 },
    );
  });

  it('right after opening does not lose what a killed process had left in the page cache', async () => {
    const files = new SimulatedDisk();
    const store = await open(files);
    store.append(outboxEntry(0, 0));
    store.append(outboxEntry(0, 1));
    store.acknowledge(0, 0);
    // No commit: only the page cache has it. The next process may publish what it finds, so it must stay.
    const next = await open(files);
    expect(numbers(next)).toEqual(['0/1']);
    expect(numbers(await open(files.powerCut(() => false)))).toEqual(['0/1']);
  });
});
