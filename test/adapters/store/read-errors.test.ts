/** A read error does not prove damage: the file is read again later, and nothing is renamed. */
import { expect, test } from 'vitest';
import { openDocument } from '../../../adapters/store/document.ts';
import { openStore, type Store } from '../../../adapters/store/store.ts';
import { MemoryLog } from '../../rig/log.ts';
import { numbersIn, outboxEntry } from './entries.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const CODES = ['EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'EACCES', 'EBUSY'] as const;
const path = '/data/state.json';

function contentsOf(disk: SimulatedDisk): Map<string, string> {
  return new Map(disk.paths.map((name) => [name, Buffer.from(disk.read(name)).toString('hex')]));
}

test.each(CODES)('a document with a read error (%s) stays unchanged and is read later', async (code) => {
  const files = new SimulatedDisk();
  const document = await openDocument(path, 0, { files });
  await document.write(1);
  await document.write(2);
  // Without the newest generation, the previous one is read, and remains of an interrupted write.
  for (const [removed, found] of [
    [[], 2],
    [[path], 1],
  ] as const) {
    const disk = files.powerCut(() => false);
    for (const name of removed) disk.remove(name);
    disk.plant(`${path}.next`, Uint8Array.of(1));
    const before = contentsOf(disk);
    const read: string[] = [];
    disk.readFault = (name) => (read.push(name) > 0 ? code : undefined);
    await expect(openDocument(path, 0, { files: disk })).rejects.toMatchObject({
      code: 'store.unreadable',
      where: path,
    });
    expect(read).not.toEqual([]);
    disk.readFault = () => undefined;
    expect(contentsOf(disk)).toEqual(before);
    const again = await openDocument(path, 0, { files: disk });
    expect([again.data, again.corrupt]).toEqual([found, found === 2 ? 0 : 1]);
  }
});

test('a damaged newest generation stays in place while the previous one cannot be read', async () => {
  const files = new SimulatedDisk();
  const document = await openDocument(path, 0, { files });
  await document.write(1);
  await document.write(2);
  files.plant(path, Uint8Array.of(7));
  const before = contentsOf(files);
  files.readFault = (name) => (name.endsWith('.previous') ? 'EIO' : undefined);
  await expect(openDocument(path, 0, { files })).rejects.toMatchObject({ where: `${path}.previous` });
  files.readFault = () => undefined;
  expect(contentsOf(files)).toEqual(before);
  expect(await openDocument(path, 0, { files })).toMatchObject({ data: 1, corrupt: 1, found: 'previous' });
});

const openAll = (files: SimulatedDisk, log = new MemoryLog()): Promise<Store> =>
  openStore('/data', { files, log, segmentBytes: 700, keptBytes: 10_000 });

test('whichever read at start fails, no journal file changes, and a later start has everything', async () => {
  const files = new SimulatedDisk();
  const before = await openAll(files);
  let n = 0;
  before.memory.keep(() => [['n', n]]);
  for (; n < 40; n++) {
    before.outbox.append(outboxEntry(1, n));
    if (n % 2 === 0) before.outbox.acknowledge(1, n);
    await before.outbox.commit();
  }
  const waiting = numbersIn(before.outbox);
  let failures = 0;
  for (let failing = 1; ; failing++) {
    const disk = files.powerCut(() => false);
    const whole = contentsOf(disk);
    let reads = 0;
    disk.readFault = () => (++reads === failing ? CODES[failing % CODES.length] : undefined);
    const log = new MemoryLog();
    const failed = await openAll(disk, log).then(
      () => undefined,
      (error: unknown) => error,
    );
    disk.readFault = () => undefined;
    if (failed === undefined) break;
    failures++;
    expect([failing, failed]).toMatchObject([failing, { code: 'store.unreadable' }]);
    // After all segments were read, the newest may be truncated to its records, and only then the states are read.
    for (const [name, bytes] of whole)
      expect([name, bytes.startsWith(contentsOf(disk).get(name)!)]).toEqual([name, true]);
    expect(disk.paths).toEqual([...whole.keys()]);
    expect(log.lines).toEqual([]);
    const again = await openAll(disk, log);
    expect([numbersIn(again.outbox), again.outbox.nextSeq(1), again.memory.recall('n')]).toEqual([waiting, 40, 39]);
    expect([again.memory.damaged, again.metrics.damaged, again.metrics.aside]).toEqual([false, 0, 0]);
    expect(log.lines.filter(({ level }) => level !== 'info')).toEqual([]);
    again.outbox.append(outboxEntry(1, 40));
    await again.outbox.commit();
    await again.close();
    expect(disk.paths.filter((name) => name.includes('corrupt'))).toEqual([]);
  }
  expect(failures).toBeGreaterThan(10);
});
