/** YAML that could exhaust the stack, or take too long to read. */
import { describe, expect, test } from 'vitest';
import { readYaml } from '../../config/document.ts';

describe('depth', () => {
  test.each([
    ['lists on one line', '- '.repeat(20_000)],
    ['keys on one line', '? '.repeat(20_000)],
    ['empty keys', ': '.repeat(20_000)],
    ['brackets', '['.repeat(20_000)],
    ['braces', '{a: '.repeat(20_000)],
    ['lines further and further in', Array.from({ length: 1200 }, (_, i) => `${' '.repeat(i)}k:`).join('\n')],
  ])('%s are refused with an explanation', (_, text) => {
    const { contents, diagnostics } = readYaml('deep.yaml', text);
    expect(contents).toBeUndefined();
    expect(diagnostics[0]).toMatchObject({ severity: 'error', message: expect.stringContaining('nested deeper') });
  });

  test('many members on one level do not count as deep', () => {
    const members = Array.from(
      { length: 3000 },
      (_, i) => `${'k'.repeat(1 + (i % 40))}${i}: { a: [1, -2], b: "- ? :" }`,
    );
    const { contents, diagnostics } = readYaml('wide.yaml', members.join('\n'));
    expect(diagnostics).toEqual([]);
    expect(Object.keys(contents?.data as object)).toHaveLength(3000);
  });
});

test('every duplicate member is reported, in maps of any size', () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`);
  const { contents, diagnostics } = readYaml(
    'twice.yaml',
    [...names, 'k7: 2', '__proto__: 1', '__proto__: 2'].join('\n'),
  );
  expect(diagnostics.map(({ line, message }) => `${line}: ${message}`)).toEqual([
    '20001: this member is there twice',
    '20003: this member is there twice',
  ]);
  expect(contents).toBeDefined();
});
