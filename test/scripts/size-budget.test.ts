import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import budget from '../../scripts/size-budget.json' with { type: 'json' };
import { linesOfCode } from '../../scripts/size-budget.ts';

test('blank lines and comment lines do not count, and code with a trailing comment does', () => {
  const text = ['/** Reason.', ' * More. */', '', 'const one = 1; // Unit.', '  // Note.', '  call();', ''].join('\n');
  expect(linesOfCode(text)).toBe(2);
});

test('every room with sources has a budget', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const hasSources = (folder: string): boolean =>
    readdirSync(`${root}/${folder}`, { recursive: true }).some((file) => /\.ts$/.test(String(file)));
  const rooms = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^(node_modules|dist|coverage|test|\..*)$/.test(entry.name))
    .map(({ name }) => name)
    .filter(hasSources);
  expect(Object.keys(budget).sort()).toEqual(rooms.sort());
});
