/** Start numbers, by which receivers distinguish messages that got the same number because of a failing disk. */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDocument } from '../../adapters/store/index.ts';
import { type Boots, countBoot } from '../../assembly/directory.ts';
import { UNCOUNTED_BOOT } from '../../protocol/schema/message.ts';
import { MemoryLog } from '../rig/log.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-boots-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function start(): Promise<number> {
  const boots = await openDocument<Boots>(join(folder, 'boot.json'), { boot: 0 });
  return countBoot(boots, 'VF3SERVCECAR00001', folder, new MemoryLog(), anyNumber);
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

test('a first start that the disk cannot store begins a separate life', async () => {
  mkdirSync(join(folder, 'boot.json.next'));
  const unwritten = [await start(), await start()];
  expect(unwritten).toEqual([1_000, 2_000]);
  rmdirSync(join(folder, 'boot.json.next'));
  expect([await start(), await start()]).toEqual([3_000, 3_001]);
});
