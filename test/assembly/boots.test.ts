/** The number of a start, by which receivers tell apart what a failing disk made the agent number twice. */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDocument } from '../../adapters/store/index.ts';
import { type Boots, countBoot } from '../../assembly/directory.ts';
import { MemoryLog } from '../rig/log.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-boots-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function start(): Promise<number> {
  const boots = await openDocument<Boots>(join(folder, 'boot.json'), { boot: 0 });
  return countBoot(boots, 'VF3SERVCECAR00001', folder, new MemoryLog());
}

test('counts up by one as long as the disk takes it', async () => {
  expect([await start(), await start(), await start()]).toEqual([1, 2, 3]);
});

test('starts that the disk does not take have numbers of their own all the same', async () => {
  await start();
  // What the document is written to first cannot be written.
  mkdirSync(join(folder, 'boot.json.next'));
  const unwritten = [await start(), await start(), await start()];
  rmdirSync(join(folder, 'boot.json.next'));
  const numbers = [...unwritten, await start(), await start()];
  expect(new Set(numbers).size).toBe(5);
  expect(numbers.slice(3)).toEqual([2, 3]);
  expect(unwritten.every(Number.isSafeInteger)).toBe(true);
});
