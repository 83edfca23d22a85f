/** Acknowledged messages that stay on disk in their original files. */
import { expect, test } from 'vitest';
import { openStore, type Store, type StoreOptions } from '../../../adapters/store/store.ts';
import type { OutboxEntry } from '../../../agent/ports.ts';
import { DAY } from '../../../protocol/calendar.ts';
import { MemoryLog } from '../../rig/log.ts';
import { entriesOnDisk, outboxEntry } from './entries.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const KEPT = 4_000;

function open(files: SimulatedDisk, options: StoreOptions = {}): Promise<Store> {
  const waits = { settleWithin: 3_600_000, now: () => undefined };
  return openStore('/data', { files, segmentBytes: 500, keptBytes: KEPT, ...waits, ...options });
}

/** Puts `count` messages of class 3 on disk, and acknowledges each after its commit. */
async function deliver({ outbox }: Store, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const seq = outbox.nextSeq(3);
    outbox.append(outboxEntry(3, seq));
    await outbox.commit();
    outbox.acknowledge(3, seq);
    await outbox.commit();
  }
}

const keptFiles = (files: SimulatedDisk) => files.paths.filter((path) => path.endsWith('.kept'));
const bytesOf = (files: SimulatedDisk, paths: readonly string[]) =>
  paths.reduce((sum, path) => sum + files.read(path).length, 0);
/** Removes duplicates and sorts by number. */
const distinct = (entries: readonly OutboxEntry[]) =>
  [...new Map(entries.map((entry) => [entry.seq, entry])).values()].sort((a, b) => a.seq - b.seq);

test('acknowledged messages are found unchanged, also after a restart and a power cut', async () => {
  const files = new SimulatedDisk();
  const store = await open(files, { keptBytes: 1 << 20 });
  await deliver(store, 40);
  const all = Array.from({ length: 40 }, (_, seq) => outboxEntry(3, seq));
  expect(distinct(entriesOnDisk(store.outbox))).toEqual(all);
  expect([...store.outbox.entries()]).toEqual([]);
  expect(store.outbox.bytes).toBe(0);
  const later = await open(
    files.powerCut(() => false),
    { keptBytes: 1 << 20 },
  );
  expect(distinct(entriesOnDisk(later.outbox))).toEqual(all);
  expect([...later.outbox.entries()]).toEqual([]);
  expect([...later.outbox.owed()]).toEqual([]);
});

test('a search returns only the requested messages', async () => {
  const store = await open(new SimulatedDisk());
  await deliver(store, 12);
  const search = store.outbox.find?.((priorityClass, seq) => priorityClass === 3 && seq >= 10);
  const found: OutboxEntry[] = [];
  for (let step = search?.next(); step?.done === false; step = search?.next()) found.push(...step.value);
  expect(distinct(found)).toEqual([outboxEntry(3, 10), outboxEntry(3, 11)]);
});

test('kept files stay within their size limit, and the oldest messages are removed first', async () => {
  const files = new SimulatedDisk();
  const store = await open(files);
  let first = 0;
  for (let round = 0; round < 30; round++) {
    await deliver(store, 5);
    expect(bytesOf(files, keptFiles(files))).toBeLessThanOrEqual(KEPT);
    expect(store.metrics.kept).toBeLessThanOrEqual(KEPT + 1024 * keptFiles(files).length);
    const seqs = distinct(entriesOnDisk(store.outbox)).map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => seqs[0]! + i));
    expect(seqs.at(-1)).toBe(store.outbox.nextSeq(3) - 1);
    expect(seqs[0]).toBeGreaterThanOrEqual(first);
    first = seqs[0]!;
  }
  expect(first).toBeGreaterThan(0);
});

test('a limit of 0 keeps nothing, and removes files kept by an earlier run', async () => {
  const files = new SimulatedDisk();
  const before = await open(files);
  await deliver(before, 40);
  await before.close();
  expect(keptFiles(files).length).toBeGreaterThan(0);
  const store = await open(files, { keptBytes: 0 });
  expect(keptFiles(files)).toEqual([]);
  await deliver(store, 40);
  expect(keptFiles(files)).toEqual([]);
});

test('kept files are not read at start', async () => {
  const files = new SimulatedDisk();
  const before = await open(files);
  await deliver(before, 40);
  await before.close();
  files.readFault = (path) => (path.endsWith('.kept') ? 'EIO' : undefined);
  const log = new MemoryLog();
  const store = await open(files, { log });
  await deliver(store, 1);
  expect(log.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  expect(() => entriesOnDisk(store.outbox)).toThrow(expect.objectContaining({ code: 'store.failed' }));
});

test('on a full disk kept messages are removed before a new one is refused', async () => {
  const files = new SimulatedDisk();
  const store = await open(files);
  await deliver(store, 40);
  const [oldest, ...others] = keptFiles(files);
  expect(others.length).toBeGreaterThan(0);
  files.fault = (operation) => (operation === 'write' && files.paths.includes(oldest!) ? 'ENOSPC' : undefined);
  store.outbox.append(outboxEntry(3, 40));
  await store.outbox.commit();
  expect(keptFiles(files)).not.toContain(oldest);
  expect(keptFiles(files)).toEqual(expect.arrayContaining(others));
  files.fault = () => undefined;
  const later = await open(files.powerCut(() => false));
  expect([...later.outbox.entries()].map(({ seq }) => seq)).toContain(40);
});

test('on a full disk the commit fails if removing kept files does not help', async () => {
  const files = new SimulatedDisk();
  const store = await open(files);
  await deliver(store, 40);
  files.fault = (operation) => (operation === 'write' ? 'ENOSPC' : undefined);
  store.outbox.append(outboxEntry(3, 40));
  await expect(store.outbox.commit()).rejects.toThrow(expect.objectContaining({ code: 'store.failed' }));
  expect(keptFiles(files)).toEqual([]);
  files.fault = () => undefined;
  await store.outbox.commit();
});

test('kept messages are removed after 60 days of reliable time, like other records', async () => {
  const files = new SimulatedDisk();
  let now = Date.UTC(2026, 0, 1);
  const times = { agreed: () => now };
  const store = await open(files, times);
  await deliver(store, 20);
  expect(keptFiles(files).length).toBeGreaterThan(0);
  await store.close();
  now += 60 * DAY;
  const sixty = await open(files, times);
  expect(keptFiles(files).length).toBeGreaterThan(0);
  await sixty.close();
  now += DAY;
  const last = await open(files, times);
  expect(keptFiles(files)).toEqual([]);
  await last.close();
});

test('a damaged byte in a kept file loses only its own message', async () => {
  const files = new SimulatedDisk();
  const store = await open(files, { keptBytes: 1 << 20 });
  await deliver(store, 12);
  const [path] = keptFiles(files);
  const whole = files.read(path!);
  for (let at = 0; at < whole.length; at++) {
    const bytes = whole.slice();
    bytes[at]! ^= 0x55;
    files.plant(path!, bytes);
    const found = distinct(entriesOnDisk(store.outbox));
    for (const entry of found) expect(entry).toEqual(outboxEntry(3, entry.seq));
    expect(found.length).toBeGreaterThanOrEqual(11);
  }
});
