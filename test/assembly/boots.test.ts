/** Start numbers, by which receivers distinguish messages that got the same number because of a failing disk. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memoryStore, openDocument, openStore } from '../../adapters/store/index.ts';
import { type Boots, countBoot } from '../../assembly/directory.ts';
import { UNCOUNTED_BOOT } from '../../protocol/schema/message.ts';
import { MemoryLog } from '../rig/log.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-boots-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** @param stored whether the disk takes the journal of this start */
async function start({ stored = true } = {}): Promise<number> {
  const boots = await openDocument<Boots>(join(folder, 'boot.json'), { boot: 0 });
  const store = stored ? await openStore(join(folder, 'outbox'), { log: new MemoryLog() }) : undefined;
  const { memory } = store ?? memoryStore();
  const boot = await countBoot(boots, memory, { vin: 'VF3SERVCECAR00001', log: new MemoryLog(), anyNumber });
  await store?.outbox.commit();
  await store?.close();
  return boot;
}

/** The lowest number of the range, plus one for each call. */
let drawn = 0;
const anyNumber = (least: number): number => least + 1_000 * ++drawn;
beforeEach(() => {
  drawn = 0;
});

test('start numbers count up by one from a random number while the disk works', async () => {
  expect([await start(), await start(), await start()]).toEqual([1_000, 1_001, 1_002]);
});

test('a wiped directory begins at another random number', async () => {
  const before = [await start(), await start()];
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  expect([...before, await start(), await start()]).toEqual([1_000, 1_001, 2_000, 2_001]);
});

test('after the last of the 2^32 start numbers the first follows', async () => {
  const boots = await openDocument<Boots>(join(folder, 'boot.json'), { boot: 0 });
  await boots.write({ boot: 2 ** 32 - 1, life: 2 ** 32 - 5 });
  expect([await start(), await start()]).toEqual([0, 1]);
});

test('a directory whose starts were counted from 1 keeps its count', async () => {
  const boots = await openDocument<Boots>(join(folder, 'boot.json'), { boot: 0 });
  await boots.write({ boot: 57 });
  expect([await start(), await start()]).toEqual([58, 59]);
});

test('starts that the disk cannot store have distinct numbers', async () => {
  await start();
  // The temporary file of the document cannot be written.
  mkdirSync(join(folder, 'boot.json.next'));
  const unwritten = [await start(), await start(), await start()];
  rmdirSync(join(folder, 'boot.json.next'));
  const numbers = [...unwritten, await start(), await start()];
  expect(new Set(numbers).size).toBe(5);
  expect(numbers.slice(3)).toEqual([1_001, 1_002]);
  expect(unwritten.every((boot) => boot >= UNCOUNTED_BOOT)).toBe(true);
  expect(unwritten.every(Number.isSafeInteger)).toBe(true);
});

test('starts count on from the journal if the document was not written, is missing, or is the one before', async () => {
  mkdirSync(join(folder, 'boot.json.next'));
  const first = await start();
  rmdirSync(join(folder, 'boot.json.next'));
  const second = await start();
  const before = readFileSync(join(folder, 'boot.json'));
  const third = await start();
  writeFileSync(join(folder, 'boot.json'), before);
  const fourth = await start();
  for (const name of readdirSync(folder)) if (name.startsWith('boot.json')) rmSync(join(folder, name));
  expect([first, second, third, fourth, await start()]).toEqual([1_000, 1_001, 1_002, 1_003, 1_004]);
});

test('a first start of which the disk stores nothing begins a separate life', async () => {
  mkdirSync(join(folder, 'boot.json.next'));
  const unwritten = [await start({ stored: false }), await start({ stored: false })];
  expect(unwritten).toEqual([1_000, 2_000]);
  rmdirSync(join(folder, 'boot.json.next'));
  expect([await start(), await start()]).toEqual([3_000, 3_001]);
});
