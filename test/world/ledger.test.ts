/** The ledger of seeds and mutants: files of several runs are combined. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { judgeRest } from '../../scripts/mutants/rest.ts';
import { digestOfWorlds, SeedLedger } from './ledger.ts';

const scratch = mkdtempSync(join(tmpdir(), 'vigie-ledger-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const place = (): string => mkdtempSync(join(scratch, 'folder-'));

const open = (folder: string, first: number, digest = 'd'.repeat(64), length = 600_000): SeedLedger =>
  new SeedLedger({ folder, digest, commit: 'c', length, first });

test('files of several runs and machines are combined, whatever their ranges', () => {
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

test('a ledger contains the number of its seeds, and the hours of cars and processors of all runs', () => {
  const folder = place();
  const cost = { cars: 1_800_000, processor: 9_000 };
  for (const seed of [1, 2]) {
    const ledger = open(folder, seed);
    ledger.add(seed, false, cost);
    ledger.write();
  }
  const files = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown);
  for (const file of files) expect(file).toMatchObject({ seeds: 1, carHours: 0.5, processorHours: 0.0025 });
  expect(open(folder, 1).cost).toEqual({ cars: 3_600_000, processor: 18_000 });
  expect(open(folder, 1, 'e'.repeat(64)).cost).toEqual({ cars: 0, processor: 0 });
});

test('the digest of the worlds changes with the code of agent and hub, and not with a comment', async () => {
  const digest = await digestOfWorlds();
  const changed = (file: string, more: string): Promise<string> =>
    digestOfWorlds((path, original) => (path.endsWith(file) ? `${original()}\n${more}\n` : undefined));
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(await changed('/agent/outbox/outbox.ts', '// A comment.')).toBe(digest);
  for (const file of ['/agent/outbox/outbox.ts', '/hub/core/intake.ts', '/test/world/world.ts']) {
    expect(await changed(file, 'console.log();')).not.toBe(digest);
  }
});

test('found and surviving mutants count in later runs, and an interrupted one is tested again', async () => {
  const folder = place();
  const mutants = [1, 2, 3, 4].map((number) => ({ place: number }));
  const judged: number[] = [];
  const run = async (last: number): Promise<SeedLedger> => {
    const ledger = open(folder, 1);
    const rest = mutants.filter((one) => !(ledger.passed.has(one.place) || ledger.hasBroken(one.place)));
    await judgeRest(rest, ledger, async (mutant) => {
      judged.push(mutant.place);
      return mutant.place > last ? undefined : mutant.place !== 2;
    });
    return open(folder, 1);
  };
  const first = await run(2);
  expect([first.passed.all, first.hasBroken(2), first.hasBroken(3)]).toEqual([[[1, 1]], true, false]);
  const second = await run(4);
  expect(judged).toEqual([1, 2, 3, 3, 4]);
  expect(second.passed.all).toEqual([
    [1, 1],
    [3, 4],
  ]);
});

test('a seed that passed in one run and broke in another counts as passed', () => {
  const folder = place();
  for (const broken of [true, false]) {
    const ledger = open(folder, 1);
    ledger.add(7, broken);
    ledger.write();
  }
  expect(open(folder, 1).hasBroken(7)).toBe(false);
});
