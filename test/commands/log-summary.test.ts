/** Summary of `decode` and `replay` for a log with unreadable lines. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isIncomplete, summaryOf } from '../../commands/log-summary.ts';
import { vigie } from '../rig/bench.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-summary-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const good = '(1.500000) can0 123#1122\n';

describe('summaries of logs', () => {
  const log = (frames: number, reasons: Readonly<Record<string, number>>, passedOver: [string, number][] = []) => {
    const leftOut = Object.entries(reasons).map(([reason, count], i) => ({
      reason,
      count,
      example: { file: 'a.log', line: i + 1, severity: 'error' as const, message: reason },
    }));
    const count = leftOut.reduce((sum, one) => sum + one.count, 0);
    return {
      format: 'candump' as const,
      frames,
      faults: { count, first: [] },
      leftOut,
      passedOver: new Map(passedOver),
    };
  };

  test('the summary has the number of frames, the share left out and the three most common reasons', () => {
    expect(summaryOf(log(997, { a: 1 }, [['comments', 2]]), 'a.log')).toEqual([
      'a.log: 997 frames read as candump, 1 left out (0.10 %); not counted: 2 comments',
      '  1 × a.log:1: error: a',
    ]);
    expect(summaryOf(log(0, { a: 1, b: 3, c: 2, d: 4 }), 'a.log')).toEqual([
      'a.log: 0 frames read as candump, 10 left out (100.0 %)',
      '  4 × a.log:4: error: d',
      '  3 × a.log:2: error: b',
      '  2 × a.log:3: error: c',
      '  and 1 other reason',
    ]);
  });

  test('a log is incomplete without frames or with more than one line in a hundred left out', () => {
    expect(isIncomplete(log(0, {}))).toBe(true);
    expect(isIncomplete(log(99, { a: 1 }))).toBe(false);
    expect(isIncomplete(log(98, { a: 1 }))).toBe(true);
    expect(isIncomplete(log(1, {}, [['comments', 1000]]))).toBe(false);
  });
});

test.each([
  ['99 good lines of 100', `${good.repeat(99)}(2) can0 123#1\n`, 0, '99 frames read as candump, 1 left out (1.0 %)'],
  [
    '97 good lines of 100',
    `${good.repeat(97)}${'(2) can0 123#1\n'.repeat(3)}`,
    1,
    '97 frames read as candump, 3 left out (3.0 %)',
  ],
])('decode of %s has the exit status for its loss and prints the loss', async (_, content, status, said) => {
  const file = join(folder, 'drive.log');
  writeFileSync(file, content);
  const decoded = await vigie('decode', file, '--raw');
  expect(decoded.status, decoded.stderr).toBe(status);
  expect(decoded.stderr).toContain(said);
  const replayed = await vigie('replay', file, '--profile', 'bench');
  expect(replayed.status, replayed.stderr).toBe(status);
  expect(replayed.stderr).toContain(said);
});
