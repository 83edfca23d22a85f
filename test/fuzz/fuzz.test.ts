/** A short run of `npm run fuzz` with a fixed seed, and tests of the fuzzer itself. */
import { describe, expect, test } from 'vitest';
import { campaign, inputOf, materialOf, tried } from '../../scripts/fuzz/campaign.ts';
import { targets } from '../../scripts/fuzz/targets/index.ts';
import { watched } from '../../scripts/fuzz/watch.ts';
import { runs } from '../rig/runs.ts';
import { targets as faulty } from './faulty.ts';

const SEED = 20_260_101;
const RUNS = runs(10, 200);

test('every target has a unique name', () => {
  const names = targets.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
});

describe.each(targets.map((target) => [target.name, target] as const))('%s', (_, target) => {
  test('accepts every seed input', async () => {
    const { seeds } = materialOf(target);
    expect(seeds.length).toBeGreaterThan(0);
    for (const [number, seed] of seeds.entries()) expect([number, await tried(target, seed)]).toEqual([number, true]);
  });

  test('throws at most a VigieError for broken input', async () => {
    const { tally, failure } = await campaign(target, { seed: SEED, runs: RUNS });
    expect(failure).toBeUndefined();
    expect(tally.inputs).toBe(RUNS);
    expect(tally.accepted + tally.refused).toBe(RUNS);
  });
});

describe('the fuzzer', () => {
  const table = new URL('faulty.ts', import.meta.url);
  const named = (name: string) => {
    const target = faulty.find((one) => one.name === name);
    if (target === undefined) throw new Error(`no target ${name}`);
    return target;
  };

  test.each(targets)('derives the inputs of $name only from target, seed and number', (target) => {
    const material = materialOf(target);
    const inputs = (seed: number) =>
      Array.from({ length: 50 }, (_, i) => Buffer.from(inputOf(target, material, seed, i + 50)).toString('hex'));
    const first = inputs(1);
    expect(inputs(1)).toEqual(first);
    expect(inputs(2)).not.toEqual(first);
    expect(new Set(first).size).toBeGreaterThan(25);
  });

  test('finds a parser that throws another error, with the input', async () => {
    const target = named('throws');
    const { failure } = await watched(table, target, { seed: SEED, runs: 100_000 });
    expect(failure?.reason).toContain('TypeError');
    expect(await tried(target, failure?.input ?? new Uint8Array(0))).toContain('TypeError');
  });

  test('ends a parser that hangs, and reports the input', async () => {
    const { failure } = await watched(table, named('hangs'), { seed: SEED, runs: 100_000 }, { time: 300, memory: 64 });
    expect(failure?.reason).toBe('not done after 300 ms');
    expect(failure?.input).toContain(0x21);
  });

  test('ends a parser that takes too much memory, and reports the input', async () => {
    const { failure } = await watched(
      table,
      named('hoards'),
      { seed: SEED, runs: 100_000 },
      { time: 60_000, memory: 32 },
    );
    expect(failure?.reason).toBe('more than 32 MiB of heap');
    expect(failure?.input).toContain(0x21);
  });

  test('ends normally for a parser without faults', async () => {
    const { failure, tally } = await watched(table, named('sound'), { seed: SEED, runs: 500 });
    expect(failure).toBeUndefined();
    expect(tally).toMatchObject({ inputs: 500 });
    expect(tally.accepted).toBeGreaterThan(0);
    expect(tally.refused).toBeGreaterThan(0);
  });
});
