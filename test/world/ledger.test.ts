/** The ledger of seeds: what passed is not lived through again, over kills and merges. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { SeedLedger } from './ledger.ts';

const scratch = mkdtempSync(join(tmpdir(), 'vigie-ledger-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const place = (): string => mkdtempSync(join(scratch, 'folder-'));

const open = (folder: string, first: number, digest = 'd'.repeat(64), length = 600_000): SeedLedger =>
  new SeedLedger({ folder, digest, commit: 'c', length, first });

test('files of several runs and machines count together, whatever their ranges', () => {
  const seeds = fc.uniqueArray(fc.integer({ min: 1, max: 60 }));
  fc.assert(
    fc.property(fc.array(seeds, { minLength: 1, maxLength: 4 }), (machines) => {
      const merged = place();
      for (const passed of machines) {
        const own = place();
        const ledger = open(own, 1);
        for (const seed of passed) ledger.add(seed, false);
        ledger.write();
        for (const name of readdirSync(own)) copyFileSync(join(own, name), join(merged, name));
      }
      const all = open(merged, 100).passed;
      for (let seed = 1; seed <= 60; seed++) expect(all.has(seed)).toBe(machines.some((one) => one.includes(seed)));
    }),
    { numRuns: 30 },
  );
});

test('a broken seed is named and does not count, nor do seeds of other sources', () => {
  const folder = place();
  const ledger = open(folder, 1);
  ledger.add(1, false);
  ledger.add(2, true);
  ledger.write();
  const [name = ''] = readdirSync(folder);
  expect(JSON.parse(readFileSync(join(folder, name), 'utf8'))).toMatchObject({ passed: [[1, 1]], broken: [2] });
  expect(open(folder, 1).passed.all).toEqual([[1, 1]]);
  expect(open(folder, 1, 'e'.repeat(64)).passed.all).toEqual([]);
});

test('a search that is ended goes on where it stopped, and then has nothing left to do', async () => {
  const folder = place();
  const script = fileURLToPath(new URL('../../scripts/simulate.ts', import.meta.url));
  const simulate = (...words: string[]) => {
    const args = [script, '--minutes', '0.05', '--ledger', folder, '--seed', '1', ...words];
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  };
  const ended = simulate('--runs', '100000');
  for await (const line of createInterface({ input: ended.stderr })) {
    if (/^25 worlds/.test(line)) break;
  }
  ended.kill('SIGTERM');
  await once(ended, 'exit');
  const lived = open(folder, 1, digestIn(folder), 3_000).passed.size;
  expect(lived).toBeGreaterThanOrEqual(25);

  const output = async (count: number): Promise<string> => {
    const child = simulate('--runs', String(count));
    let text = '';
    child.stdout.on('data', (part: Buffer) => {
      text += part;
    });
    await once(child, 'close');
    return text;
  };
  expect(await output(lived + 5)).toMatch(
    new RegExp(`^5 worlds from seed 1 on.*\\n${lived + 5} of ${lived + 5} seeds`),
  );
  expect(await output(lived + 5)).toMatch(new RegExp(`^${lived + 5} of ${lived + 5} seeds`));

  function digestIn(where: string): string {
    const [name = ''] = readdirSync(where);
    return (JSON.parse(readFileSync(join(where, name), 'utf8')) as { digest: string }).digest;
  }
});
