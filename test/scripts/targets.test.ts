/** The first table of the benchmark's page: the verdict on a target must not depend on its author. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type BenchmarkTarget, markdown } from '../../scripts/benchmark/section.ts';
import { isMet, targetTable } from '../../scripts/benchmark/targets.ts';

const fast: BenchmarkTarget = { what: 'frames/s', measured: 13, bound: 12, wanted: 'at least' };
const slow: BenchmarkTarget = { ...fast, measured: 9, why: 'it is cold' };
const small: BenchmarkTarget = { what: 'bytes', measured: 60, bound: 60, wanted: 'at most', floor: 41 };
const large: BenchmarkTarget = { ...small, measured: 75 };
const none: BenchmarkTarget = { what: 'missing', measured: 0, bound: 0, wanted: 'at most' };
const lost: BenchmarkTarget = { ...none, measured: 3 };
const unknown: BenchmarkTarget = { what: 'with a peer', measured: Number.NaN, bound: 1, wanted: 'at least' };

test('a target is reached from its side of the bound, and by an equal value', () => {
  expect([fast, slow, small, large, none, lost, unknown].map(isMet)).toEqual([
    true,
    false,
    true,
    false,
    true,
    false,
    false,
  ]);
});

test('the table shows by how much a target is missed, and why', () => {
  const table = targetTable(
    new Map([
      ['Speed', [fast, slow]],
      ['Size', [small, large, none, lost, unknown]],
    ]),
  );
  expect(table.title).toBe('3 of 7 reached');
  expect(table.rows.map(({ cells }) => cells.at(-1))).toEqual([
    'reached',
    '**missed by 25.0 %**',
    'reached',
    '**missed by 25.0 %**',
    'reached',
    '**missed**',
    '**not measured**',
  ]);
  expect(table.notes).toEqual([
    'frames/s: it is cold',
    'bytes: its table below shows what was measured beside it',
    'missing: its table below shows what was measured beside it',
    'with a peer: what it is compared with is not installed; the note under its table says what brings it',
    'The floor is the same figure for what no program can leave out, measured in the same run.',
  ]);
  expect(markdown(table)).toContain('| Size | bytes | at most 60 | 60 | 41 | 1.46 | reached |');
  expect(markdown(table)).toContain('| Size | missing | at most 0 | 3 |  |  | **missed** |');
});

const benchmark = (...words: string[]) =>
  spawnSync(process.execPath, [fileURLToPath(new URL('../../scripts/benchmark/index.ts', import.meta.url)), ...words], {
    encoding: 'utf8',
  });

test('the benchmark prints its usage', () => {
  const { status, stdout, stderr } = benchmark('--help');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('Usage: npm run benchmark');
  expect(stdout).toContain('Sections: decode, logs, replay');
});

test('the benchmark refuses an unknown option or section in one line', () => {
  const option = benchmark('--quik');
  expect(option.status).toBe(2);
  expect(option.stderr).toBe("Unknown option '--quik'; npm run benchmark -- --help lists what there is\n");
  const section = benchmark('decoding');
  expect(section.status).toBe(2);
  expect(section.stderr).toMatch(/^no section decoding; there are decode, .*\n$/);
});
