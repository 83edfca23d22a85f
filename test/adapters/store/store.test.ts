/** Tests outbox, state and records in one journal. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryStore } from '../../../adapters/store/memory.ts';
import { ruleOf } from '../../../adapters/store/retention.ts';
import { openStore, type Store, type StoreOptions } from '../../../adapters/store/store.ts';
import { memoryContract } from '../../contracts/memory.ts';
import { contractRules, recordStoreContract } from '../../contracts/record-store.ts';
import { MemoryLog } from '../../rig/log.ts';
import { numbersIn, outboxEntry } from './entries.ts';
import { SimulatedDisk } from './simulated-disk.ts';

let root: string;
let made = 0;
const freshDirectory = (): string => join(root, String(made++));

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'vigie-store-'));
});
afterAll(() => rmSync(root, { recursive: true }));

/** A store that is reopened after every commit, so that all data comes from the disk. */
async function reopening(
  options: StoreOptions,
): Promise<Pick<Store, 'memory' | 'records'> & { commit(): Promise<void> }> {
  const directory = freshDirectory();
  let store = await openStore(directory, options);
  const sources: Parameters<Store['memory']['keep']>[0][] = [];
  return {
    memory: {
      recall: (key) => store.memory.recall(key),
      keep: (states) => {
        sources.push(states);
        store.memory.keep(states);
      },
    },
    records: {
      put: (collection, record) => store.records.put(collection, record),
      get: (collection, id) => store.records.get(collection, id),
      list: (collection, from, to) => store.records.list(collection, from, to),
    },
    commit: async () => {
      await store.outbox.commit();
      await store.close();
      store = await openStore(directory, options);
      for (const states of sources) store.memory.keep(states);
    },
  };
}

const kinds = {
  memory: async (options: StoreOptions) => {
    const store = memoryStore(options as Parameters<typeof memoryStore>[0]);
    return { ...store, commit: () => store.outbox.commit() };
  },
  file: async (options: StoreOptions) => {
    const store = await openStore(freshDirectory(), options);
    return { ...store, commit: () => store.outbox.commit() };
  },
  'file, opened again and again': (options: StoreOptions) => reopening({ ...options, segmentBytes: 1000 }),
  'file on a disk that takes nothing': async (options: StoreOptions) => {
    const files = new SimulatedDisk();
    files.fault = () => 'EROFS';
    const store = await openStore('/data', { ...options, files });
    return { ...store, commit: () => store.outbox.commit().catch(() => undefined) };
  },
};

for (const [name, create] of Object.entries(kinds)) {
  memoryContract(name, () => create({}));
  recordStoreContract(name, async () => {
    let time: number | undefined;
    const store = await create({ records: contractRules, now: () => time });
    return {
      records: store.records,
      commit: () => store.commit(),
      setTime: (now) => {
        time = now;
      },
    };
  });
}

const open = (files: SimulatedDisk, options: StoreOptions = {}): Promise<Store> =>
  openStore('/data', { files, segmentBytes: 2000, ...options });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('store', () => {
  it('puts messages, state and records of one commit on disk together or not at all', async () => {
    const files = new SimulatedDisk();
    const store = await open(files);
    let trips = 0;
    store.memory.keep(() => [['trips', trips]]);
    for (trips = 1; trips <= 20; trips++) {
      store.outbox.append(outboxEntry(1, trips - 1));
      store.records.put('trips', { id: `t${trips}`, at: trips, record: trips });
      await store.outbox.commit();
    }
    trips = 20;
    store.outbox.append(outboxEntry(1, 20));
    for (let cut = 0; cut < 50; cut++) {
      let n = 0;
      const after = await open(files.powerCut(() => n++ % 50 < cut));
      const found = [...after.outbox.entries()].length;
      expect([after.memory.recall('trips'), [...after.records.list('trips')].length]).toEqual([found, found]);
    }
  });

  it('encodes a frozen state only once per start', async () => {
    const files = new SimulatedDisk();
    let encoded = 0;
    const state = Object.freeze({
      get n() {
        encoded++;
        return 1;
      },
    });
    for (let start = 0; start < 2; start++) {
      const store = await open(files);
      store.memory.keep(() => [['state', state]]);
      encoded = 0;
      for (let n = 0; n < 5; n++) await store.outbox.commit();
      expect(store.memory.recall('state')).toEqual({ n: 1 });
      expect(encoded, `start ${start}`).toBe(1);
    }
  });

  it('writes only changed parts of the state', async () => {
    const files = new SimulatedDisk();
    const store = await open(files);
    let changing = 0;
    const large = 'x'.repeat(10_000);
    store.memory.keep(() => [
      ['large', { large }],
      ['small', changing],
    ]);
    await store.outbox.commit();
    const before = store.metrics.written;
    for (changing = 1; changing <= 10; changing++) await store.outbox.commit();
    expect(store.metrics.written - before).toBeLessThan(2_000);
    const flushes = store.metrics.flushes;
    changing = 10;
    await store.outbox.commit();
    expect(store.metrics.flushes).toBe(flushes);
    expect((await open(files.powerCut(() => false))).memory.recall('small')).toBe(10);
  });

  it('does not write an unchanged record', async () => {
    const store = await open(new SimulatedDisk());
    const put = () => store.records.put('trips', { id: 'a', at: 1, record: { distance: 5 } });
    put();
    await store.outbox.commit();
    const { written } = store.metrics;
    put();
    await store.outbox.commit();
    expect(store.metrics.written).toBe(written);
  });

  it('writes records to disk without a commit', async () => {
    const files = new SimulatedDisk();
    const store = await open(files, { settleWithin: 1 });
    const synced = new Promise<void>((resolve) => {
      files.onSync = resolve;
    });
    store.records.put('trips', { id: 'a', at: 1, record: 7 });
    await synced;
    await turn();
    expect((await open(files.powerCut(() => false))).records.get('trips', 'a')?.record).toBe(7);
  });

  it('holds back an acknowledgement that belongs to an unwritten message', async () => {
    const files = new SimulatedDisk();
    const store = await open(files);
    for (let seq = 0; seq < 3; seq++) store.outbox.append(outboxEntry(5, seq));
    await store.outbox.commit();
    // Like a full outbox: it drops a message and appends the record of the gap.
    store.outbox.acknowledge(5, 0);
    store.outbox.append(outboxEntry(3, 0));
    await turn();
    expect(numbersIn((await open(files.powerCut(() => true))).outbox)).toEqual(['5/0', '5/1', '5/2']);
    await store.outbox.commit();
    expect(numbersIn((await open(files.powerCut(() => false))).outbox)).toEqual(['3/0', '5/1', '5/2']);
  });

  it('does not keep waiting messages in memory', () => {
    const child = fileURLToPath(new URL('./held-child.ts', import.meta.url));
    const count = 20_000;
    const said = execFileSync(process.execPath, ['--expose-gc', child, freshDirectory(), `${count}`], {
      encoding: 'utf8',
    });
    const { written, opened, found } = JSON.parse(said) as { written: number; opened: number; found: number };
    // Each has 2,000 bytes. The limit includes spare capacity of the columns.
    expect([found, written / count < 300, opened / count < 300]).toEqual([count, true, true]);
  });

  it('finds messages and records among many', async () => {
    const directory = freshDirectory();
    const store = await openStore(directory, { segmentBytes: 50_000 });
    const count = 3000;
    for (let seq = 0; seq < count; seq++) {
      store.outbox.append(outboxEntry(5, seq, 100));
      store.records.put('telemetry', { id: `b${seq}`, at: seq, record: new Uint8Array(100).fill(seq) });
      if (seq % 100 === 99) await store.outbox.commit();
    }
    const look = ({ outbox, records }: Store): void => {
      for (const seq of [0, 1, 2999, 1500, 777, 1501, 1502]) {
        expect(outbox.load(5, seq)).toEqual(outboxEntry(5, seq, 100));
        expect(records.get('telemetry', `b${seq}`)?.record).toEqual(new Uint8Array(100).fill(seq));
      }
      expect([...records.list('telemetry', 1234, 1236)].map(({ id }) => id)).toEqual(['b1234', 'b1235']);
    };
    look(store);
    await store.close();
    const again = await openStore(directory);
    look(again);
    await again.close();
  });

  it('reuses files without live data, and only as many as needed', async () => {
    const files = new SimulatedDisk();
    const store = await open(files);
    let made = 0;
    files.fault = (operation) => {
      if (operation === 'open create') made++;
      return undefined;
    };
    for (let seq = 0; seq < 500; seq++) {
      store.outbox.append(outboxEntry(1, seq, 100));
      await store.outbox.commit();
      store.outbox.acknowledge(1, seq);
    }
    expect(made).toBeLessThan(8);
    expect(store.metrics.disk).toBeLessThan(8 * 2000);
    const after = await open(files.powerCut(() => false));
    expect([after.outbox.nextSeq(1), after.metrics.damaged, after.metrics.aside]).toEqual([500, 0, 0]);
  });

  it('does not reuse a file that an earlier run truncated', async () => {
    const files = new SimulatedDisk();
    const lengths = () =>
      files.paths.filter((path) => path.endsWith('.spare')).map((path) => [path, files.read(path).length]);
    let spares = 0;
    for (let seq = 0; seq < 12; seq++) {
      const store = await open(files);
      for (let n = 0; n < 8; n++) {
        const next = store.outbox.nextSeq(1);
        store.outbox.append(outboxEntry(1, next, 400));
        await store.outbox.commit();
        for (const { seq: before } of [...store.outbox.entries()]) store.outbox.acknowledge(1, before);
        await store.outbox.commit();
        for (const [path, length] of lengths())
          expect([path, length]).toEqual([path, expect.toSatisfy((l: number) => l >= 2000)]);
        spares += lengths().length;
      }
      await store.close();
    }
    expect(spares).toBeGreaterThan(0);
  });

  it('removes old records of series before it exceeds its disk limit', async () => {
    const store = await open(new SimulatedDisk(), { diskBytes: 20_000, segmentBytes: 1000 });
    let most = 0;
    for (let at = 0; at < 400; at++) {
      store.records.put('telemetry', { id: `${at}`, at, record: 'x'.repeat(100) });
      if (at % 10 === 0) store.records.put('trips', { id: `${at}`, at, record: at });
      await store.outbox.commit();
      most = Math.max(most, store.metrics.disk);
    }
    expect(most).toBeLessThanOrEqual(20_000);
    expect(store.metrics.diskBound).toBe(20_000);
    expect(store.metrics.retired).toBeGreaterThan(200);
    const left = [...store.records.list('telemetry')].map(({ at }) => at);
    expect(left.at(-1)).toBe(399);
    expect(left).toEqual(Array.from({ length: left.length }, (_, i) => 400 - left.length + i));
    expect([...store.records.list('trips')]).toHaveLength(40);
  });

  it('counts the bytes written to flash in a day, over restarts, and then refuses series', async () => {
    const files = new SimulatedDisk();
    let now = Date.UTC(2024, 1, 1, 12);
    const options = { bytesPerDay: 40_960, now: () => now };
    let store = await open(files, options);
    for (let at = 0; at < 20; at++) {
      store.records.put('waypoint', { id: `${at}`, at, record: at });
      store.records.put('trips', { id: `${at}`, at, record: at });
      await store.outbox.commit();
      if (at === 4) {
        await store.close();
        store = await open(files, options);
        // One page for each commit, and one for closing.
        expect(store.metrics.flashedToday).toBeGreaterThanOrEqual(5 * 4096);
      }
    }
    const { flashedToday, flashedBound, refused } = store.metrics;
    expect([flashedToday > flashedBound, refused > 5, refused < 15]).toEqual([true, true, true]);
    expect([...store.records.list('waypoint')]).toHaveLength(20 - refused);
    expect([...store.records.list('trips')]).toHaveLength(20);
    now += 86_400_000;
    store.records.put('waypoint', { id: 'next', at: 100, record: 1 });
    expect(store.records.get('waypoint', 'next')).toBeDefined();
    await store.outbox.commit();
    expect(store.metrics.flashedToday).toBe(4096);
  });

  it('keeps custom signals for 60 days and up to 64 MiB, other records up to 16 MiB, and drops the oldest first', async () => {
    expect(ruleOf('signals', {})).toEqual({ days: 60, bytes: 64 << 20 });
    expect(ruleOf('alert', {})).toEqual({ days: 60, bytes: 16 << 20 });
    const day = 86_400_000;
    const now = Date.UTC(2024, 1, 1);
    const store = await open(new SimulatedDisk(), { now: () => now, records: { signals: { bytes: 64 << 10 } } });
    const kept = () => [...store.records.list('signals')].map(({ id }) => id);
    for (const age of [62, 60.5, 59.5, 1]) {
      store.records.put('signals', { id: `${age} days`, at: now - age * day, record: 1 });
    }
    await store.outbox.commit();
    expect(kept()).toEqual(['59.5 days', '1 days']);
    for (let i = 0; i < 70; i++) {
      store.records.put('signals', { id: `${i}`, at: now + i, record: new Uint8Array(1 << 10) });
      await store.outbox.commit();
    }
    // Each record takes a few additional bytes.
    expect(kept()).toEqual(Array.from({ length: 61 }, (_, i) => `${70 - 61 + i}`));
    await store.close();
  });

  it('drops nothing by age while the time is unknown', async () => {
    for (const now of [() => undefined, () => 12_000]) {
      const store = await open(new SimulatedDisk(), { now });
      for (const at of [0, Date.UTC(2024, 1, 1)]) store.records.put('trips', { id: `${at}`, at, record: at });
      await store.outbox.commit();
      expect([...store.records.list('trips')]).toHaveLength(2);
    }
  });

  it('keeps records from before the time was known, until they take too much space', async () => {
    const now = Date.UTC(2024, 1, 1);
    const store = await open(new SimulatedDisk(), { now: () => now, records: { trips: { days: 60, bytes: 800 } } });
    for (const at of [12_000, now - 61 * 86_400_000, now]) store.records.put('trips', { id: `${at}`, at, record: at });
    await store.outbox.commit();
    expect([...store.records.list('trips')].map(({ at }) => at)).toEqual([12_000, now]);
    for (let i = 1; i < 30; i++) store.records.put('trips', { id: `${i}`, at: now + i, record: i });
    await store.outbox.commit();
    expect(store.records.get('trips', '12000')).toBeUndefined();
  });

  it('logs what it cannot read, and continues', async () => {
    const files = new SimulatedDisk();
    const store = await open(files);
    store.outbox.append(outboxEntry(1, 0));
    store.records.put('trips', { id: 'a', at: 1, record: 7 });
    await store.close();
    const log = new MemoryLog();
    const again = await open(files, { log });
    files.readFault = () => 'EIO';
    expect(() => again.outbox.load(1, 0)).toThrow(
      expect.objectContaining({ code: 'store.unreadable', where: '/data/00000001.journal' }),
    );
    expect(again.records.get('trips', 'a')).toBeUndefined();
    expect(log.lines.filter(({ level }) => level === 'error')).not.toEqual([]);
    files.readFault = () => undefined;
    expect(again.outbox.load(1, 0)).toEqual(outboxEntry(1, 0));
    expect(again.records.get('trips', 'a')?.record).toBe(7);
  });

  it('shows records by number as soon as they are on the disk, and never those that a power cut takes', async () => {
    const files = new SimulatedDisk();
    const store = await open(files);
    const numbers = (from: Store, first = 0) => [...from.numbered.from('trips', first)].map(({ number }) => number);
    const put = (id: string) => store.records.put('trips', { id, at: 1, record: id });
    for (const id of ['a', 'b', 'c']) put(id);
    expect([numbers(store), store.numbered.end('trips')]).toEqual([[], 0]);
    await store.outbox.commit();
    expect([numbers(store), numbers(store, 1), store.numbered.end('trips')]).toEqual([[0, 1, 2], [1, 2], 3]);
    put('d');
    const cut = await open(files.powerCut(() => false));
    expect([numbers(cut), cut.numbered.end('trips')]).toEqual([[0, 1, 2], 3]);
    store.records.put('trips', { id: 'a', at: 1, record: 'changed' });
    const committing = store.outbox.commit();
    put('e');
    await committing;
    expect([numbers(store), store.numbered.end('trips')]).toEqual([[1, 2, 3, 4], 5]);
    expect([...store.numbered.from('trips', 4)][0]?.stored).toEqual({ id: 'a', at: 1, record: 'changed' });
    expect(store.numbered.expired('trips', 0, 5)).toBe(0);
  });

  it('counts the numbers that retention deleted, also after a start', async () => {
    const files = new SimulatedDisk();
    const options = { records: { trips: { bytes: 800 } } };
    const store = await open(files, options);
    for (let i = 0; i < 60; i++) store.records.put('trips', { id: `${i}`, at: i, record: 'x'.repeat(20) });
    await store.outbox.commit();
    const [first] = store.numbered.from('trips', 0);
    const gone = first?.number ?? 0;
    expect(gone).toBeGreaterThan(20);
    expect(store.numbered.expired('trips', 10, 60)).toBe(gone - 10);
    await store.close();
    const again = await open(files, options);
    expect([again.numbered.expired('trips', 10, 60), again.numbered.expired('trips', gone, 60)]).toEqual([
      gone - 10,
      0,
    ]);
  });

  it('does not skip a numbered record that the disk fails to return', async () => {
    const files = new SimulatedDisk();
    const store = await open(files);
    store.records.put('trips', { id: 'a', at: 1, record: 1 });
    await store.close();
    const again = await open(files);
    files.readFault = () => 'EIO';
    expect(() => [...again.numbered.from('trips', 0)]).toThrow(expect.objectContaining({ code: 'store.unreadable' }));
    files.readFault = () => undefined;
    expect([...again.numbered.from('trips', 0)]).toHaveLength(1);
  });

  it('does not fail a commit because an old segment cannot be read for compaction', async () => {
    const files = new SimulatedDisk();
    const log = new MemoryLog();
    const store = await open(files, { log });
    for (let seq = 0; seq < 200; seq++) {
      store.outbox.append(outboxEntry(1, seq, 100));
      await store.outbox.commit();
      if (seq % 10 !== 0) store.outbox.acknowledge(1, seq);
      if (seq === 60) files.readFault = (path) => (path.endsWith('01.journal') ? 'EIO' : undefined);
    }
    await store.outbox.commit();
    files.readFault = () => undefined;
    expect(log.lines.some(({ event }) => event === 'store.unreadable')).toBe(true);
    const after = await open(files.powerCut(() => false));
    expect(numbersIn(after.outbox)).toEqual(numbersIn(store.outbox));
    for (const { seq } of after.outbox.entries()) expect(after.outbox.load(1, seq)).toEqual(outboxEntry(1, seq, 100));
  });
});
