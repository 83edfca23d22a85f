/** The first table of the benchmark's page: what is said of a target must not depend on who wants it reached. */
import { expect, test } from 'vitest';
import { type BenchmarkTarget, markdown } from '../../scripts/benchmark/section.ts';
import { isMet, targetTable } from '../../scripts/benchmark/targets.ts';

const fast: BenchmarkTarget = { what: 'frames/s', measured: 13, bound: 12, wanted: 'at least' };
const slow: BenchmarkTarget = { ...fast, measured: 9, why: 'it is cold' };
const small: BenchmarkTarget = { what: 'bytes', measured: 60, bound: 60, wanted: 'at most' };
const large: BenchmarkTarget = { ...small, measured: 75 };
const none: BenchmarkTarget = { what: 'missing', measured: 0, bound: 0, wanted: 'at most' };
const lost: BenchmarkTarget = { ...none, measured: 3 };
const unknown: BenchmarkTarget = { what: 'with a peer', measured: Number.NaN, bound: 1, wanted: 'at least' };

test('a bound is reached from its side, and by what equals it', () => {
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

test('the table says by how much a target is missed, and why', () => {
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
  expect(table.notes[0]).toBe('frames/s: it is cold');
  expect(markdown(table)).toContain('| Size | missing | at most 0 | 3 | **missed** |');
});
