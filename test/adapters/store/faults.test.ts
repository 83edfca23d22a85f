/** The outbox on a disk that fails, fills up, or loses power. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../../adapters/store/store.ts';
import type { OutboxStore } from '../../../agent/ports.ts';
import { entriesIn, numbersIn, outboxEntry } from './entries.ts';
import { type FileOutboxStore, openOutboxStore } from './outbox-alone.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const directory = '/data/outbox';

function open(files: SimulatedDisk): Promise<FileOutboxStore> {
  return openOutboxStore(directory, { files, segmentBytes: 400 });
}

/** Appends to classes 0 and 1, acknowledges, and sometimes commits. `committed` is called after a successful commit. */
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
  it('at any operation names the file, keeps everything in memory, and has it on disk after the next commit', async () => {
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
      expect(numbersIn(after)).toEqual(numbersIn(store));
      expect([after.nextSeq(0), after.nextSeq(1)]).toEqual([20, 20]);
      expect(after.metrics).toMatchObject({ malformed: 0, unknown: 0, aside: 0 });
    }
  });

  it('and stays full continues in memory, leaves no temporary files, and catches up later', async () => {
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
      // The youngest message is removed before it was ever written, but its number stays used.
      store.acknowledge(1, second - 1);
      files.fault = () => undefined;
      await store.commit();
      const after = await open(files.powerCut(() => false));
      expect(numbersIn(after)).toEqual(numbersIn(store));
      expect([after.nextSeq(0), after.nextSeq(1)]).toEqual([first, second]);
    }
  });

  it('while it opens loses no readable data', async () => {
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
    expect(numbersIn(reader)).toEqual(numbersIn(store));
    reader.append(outboxEntry(0, reader.nextSeq(0)));
    await expect(reader.commit()).rejects.toThrow(expect.objectContaining({ code: 'store.failed' }));
    files.fault = () => undefined;
    await reader.commit();
    expect(numbersIn(await open(files.powerCut(() => false)))).toEqual(numbersIn(reader));
  });
});

describe('a store on a disk that fails', () => {
  /** Adds messages, state and records, and sometimes commits. */
  async function workAll(store: Store, failed: (error: unknown) => void): Promise<void> {
    let n = 0;
    store.memory.keep(() => [['n', { n, more: 'x'.repeat(n % 40) }]]);
    for (; n < 30; n++) {
      store.outbox.append(outboxEntry(1, n));
      if (n > 3) store.outbox.acknowledge(1, n - 3);
      store.records.put('trips', { id: `r${n % 5}`, at: n, record: n });
      if (n % 2 === 1) await store.outbox.commit().catch(failed);
      if (n % 5 === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    n--;
  }

  const all = ({ outbox, memory, records }: Store) => ({
    messages: entriesIn(outbox),
    next: outbox.nextSeq(1),
    state: memory.recall('n'),
    records: [...records.list('trips')],
  });

  const openAll = (files: SimulatedDisk) => openStore('/data', { files, segmentBytes: 400, settleWithin: 3_600_000 });

  it('at any operation has messages, state and records on disk after the next commit', async () => {
    const clean = new SimulatedDisk();
    await workAll(await openAll(clean), (error) => expect.unreachable(String(error)));
    expect(clean.operations).toBeGreaterThan(60);
    for (let n = 1; n <= clean.operations; n++) {
      for (const both of [false, true]) {
        const files = new SimulatedDisk();
        files.fault = () => (files.operations === n || (both && files.operations === n + 3) ? 'EIO' : undefined);
        const store = await openAll(files);
        await workAll(store, (error) => expect(error).toMatchObject({ code: 'store.failed' }));
        files.fault = () => undefined;
        await store.outbox.commit();
        const after = await openAll(files.powerCut(() => false));
        expect(all(after)).toEqual(all(store));
        expect(after.metrics).toMatchObject({ malformed: 0, unknown: 0, aside: 0, damaged: 0 });
      }
    }
  });

  it('keeps a segment without live data while it marks the end of the previous one', async () => {
    const files = new SimulatedDisk();
    const store = await openAll(files);
    const { outbox } = store;
    const commit = async (seq: number, size = 20): Promise<void> => {
      outbox.append(outboxEntry(1, seq, size));
      await outbox.commit();
    };
    const [first, second] = ['/data/00000001.journal', '/data/00000002.journal'];
    // Too much of the first segment is live to be worth moving.
    await commit(0, 250);
    // Half of a group stays after the records of the first segment, because the disk refuses to truncate it.
    files.fault = (operation) => (operation === 'write' ? 'ENOSPC' : undefined);
    await expect(commit(1)).rejects.toThrow();
    const refuseCut = (operation: string, path: string) =>
      path === first && operation === 'truncate' ? 'EIO' : undefined;
    files.fault = refuseCut;
    for (let seq = 2; seq < 30; seq++) {
      await commit(seq);
      outbox.acknowledge(1, seq - 1);
    }
    const after = await openAll(files.powerCut(() => true));
    expect(numbersIn(after.outbox)).toEqual(['1/0', '1/28', '1/29']);
    expect(after.metrics).toMatchObject({ damaged: 0, torn: 0 });
    expect(after.memory.damaged).toBe(false);
    expect(files.paths).toEqual(expect.arrayContaining([first, second]));
    // Once the first segment is truncated, the second is no longer needed.
    files.fault = () => undefined;
    for (let seq = 30; seq < 50; seq++) await commit(seq);
    expect(files.paths).toContain(first);
    expect(files.paths).not.toContain(second);
  });
});

describe('an outbox after a power cut', () => {
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
        // From then on nothing changes: the process is dead.
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
            live = numbersIn(store);
            used = [store.nextSeq(0), store.nextSeq(1)];
            everLive = new Set([...everLive, ...live]);
          },
          () => {
            throw dead;
          },
        );
        await run.catch((error: unknown) => expect(error).toBe(dead));
        const acknowledgedSince = new Set(live.filter((name) => !numbersIn(store).includes(name)));
        const after = await open(files.powerCut(() => survives.next().value));
        const found = numbersIn(after);
        expect(found).toEqual(expect.arrayContaining(live.filter((name) => !acknowledgedSince.has(name))));
        // A message acknowledged before a commit must not return.
        expect(found.filter((name) => everLive.has(name) && !live.includes(name))).toEqual([]);
        expect(after.nextSeq(0)).toBeGreaterThanOrEqual(used[0]!);
        expect(after.nextSeq(1)).toBeGreaterThanOrEqual(used[1]!);
        // Commit once more with the recovered store.
        after.append(outboxEntry(1, after.nextSeq(1)));
        await after.commit();
        expect(after.metrics.malformed + after.metrics.unknown).toBe(0);
      }),
      { numRuns: 400 },
    );
  });

  it('right after opening has the messages that a killed process left in the page cache', async () => {
    const files = new SimulatedDisk();
    const store = await open(files);
    await store.commit();
    store.append(outboxEntry(0, 0));
    store.append(outboxEntry(0, 1));
    store.acknowledge(0, 0);
    // The flush never ends, so the data are only in the page cache.
    files.pause = new Promise(() => undefined);
    const unfinished = store.commit();
    await new Promise<void>((resolve) => setImmediate(resolve));
    files.pause = undefined;
    // The next process may publish these messages, so they must persist.
    const next = await open(files);
    expect(numbersIn(next)).toEqual(['0/1']);
    expect(numbersIn(await open(files.powerCut(() => false)))).toEqual(['0/1']);
    expect(await Promise.race([unfinished, 'unfinished'])).toBe('unfinished');
  });
});
