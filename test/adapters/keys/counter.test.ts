import { fork } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Counter } from '../../../adapters/keys/counter.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigie-counter-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('each number is higher than the last and at least the time, also after restarts and when the clock goes back', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 5000 }), fc.boolean()), { maxLength: 12 }),
      async (steps) => {
        const home = await mkdtemp(join(directory, 'run-'));
        let now = 0;
        let counter = new Counter(home, 'key', () => now);
        let last = -1;
        for (const [time, restart] of steps) {
          now = time + 0.5;
          if (restart) counter = new Counter(home, 'key', () => now);
          const next = await counter.next();
          expect(next).toBe(Math.max(last + 1, time));
          last = next;
        }
      },
    ),
    { numRuns: 30 },
  );
});

test('the directory contains only the file of the last number', async () => {
  const counter = new Counter(directory, 'key', () => 100);
  expect(await counter.next()).toBe(100);
  expect(await readdir(directory)).toEqual(['key.counter.100']);
  expect(await counter.next()).toBe(101);
  expect(await readdir(directory)).toEqual(['key.counter.101']);
});

test('simultaneous requests get different numbers', async () => {
  const counter = new Counter(directory, 'key', () => 7);
  const numbers = await Promise.all(Array.from({ length: 20 }, () => counter.next()));
  expect(numbers).toEqual(Array.from({ length: 20 }, (_, i) => 7 + i));
});

test('a number that another process used meanwhile is skipped', async () => {
  await writeFile(join(directory, 'key.counter.100'), '');
  let overtaken = false;
  // The clock is read after the directory and before the new file. Meanwhile another process has used 101 and 102.
  const counter = new Counter(directory, 'key', () => {
    if (!overtaken) {
      rmSync(join(directory, 'key.counter.100'));
      writeFileSync(join(directory, 'key.counter.102'), '');
      overtaken = true;
    }
    return 0;
  });
  expect(await counter.next()).toBe(103);
  expect(await readdir(directory)).toEqual(['key.counter.103']);
});

test('counters of other keys and unrelated files are ignored', async () => {
  for (const name of [
    'other.counter.900',
    'key.counter.',
    'key.counter.x9',
    'key.counter.900.tmp',
    'akey.counter.900',
  ]) {
    await writeFile(join(directory, name), '');
  }
  expect(await new Counter(directory, 'key', () => 5).next()).toBe(5);
});

test('processes that share a key never get the same number', async () => {
  const script = fileURLToPath(new URL('count.ts', import.meta.url));
  const results = await Promise.all(
    Array.from({ length: 4 }, () => {
      const child = fork(script, [directory, '50'], { execArgv: ['--experimental-strip-types', '--no-warnings'] });
      return new Promise<number[]>((resolve, reject) => {
        child.once('message', (numbers) => resolve(numbers as number[]));
        child.once('error', reject);
        child.once('exit', (code) => code !== 0 && reject(new Error(`exit status ${code}`)));
      });
    }),
  );
  const all = results.flat();
  expect(new Set(all).size).toBe(200);
  for (const own of results) expect(own).toEqual(own.toSorted((a, b) => a - b));
});

test('a failure uses up no number and does not stop the counter', async () => {
  const home = join(directory, 'gone');
  const counter = new Counter(home, 'key', () => 5);
  await expect(counter.next()).rejects.toThrow(expect.objectContaining({ code: 'input.unreadable', where: home }));
  await mkdir(home);
  expect(await counter.next()).toBe(5);
});

test('an error is reported when all numbers are used up', async () => {
  await writeFile(join(directory, `key.counter.${Number.MAX_SAFE_INTEGER}`), '');
  await expect(new Counter(directory, 'key', () => 5).next()).rejects.toThrow(/used up/);
});
