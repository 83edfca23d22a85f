import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unsupportedNodes } from '../../../scripts/package/support.ts';
import { PAGE } from '../../../scripts/package/table.ts';
import { targetNamed, targets } from '../../../scripts/package/targets.ts';

const page = readFileSync(new URL(`../../../${PAGE}`, import.meta.url), 'utf8');

function on(day: string, text = page): readonly string[] {
  return unsupportedNodes(targets, new Date(`${day}T12:00:00Z`), text);
}

test('docs/packaging.md states that the Node of the armv7 executable is past its support', () => {
  expect(on('2026-11-26')).toEqual([]);
});

test('an executable with a Node past its support is refused unless docs/packaging.md states it', () => {
  const statement = 'The armv7 executable carries Node 20.11.0, whose support ended on 2026-04-30';
  expect(on('2026-04-30', '')).toEqual([]);
  expect(on('2026-05-01', '')).toEqual([statement]);
  expect(on('2026-05-01', `**${statement.replace(', ', ',\n')}**: use another.`)).toEqual([]);
});

test('the table in docs/packaging.md alone does not permit an executable whose Node is past its support', () => {
  expect(page).toContain('24.21.0, supported until 2028-04-30');
  expect(on('2028-05-01').map((fault) => fault.split(' ')[1])).toEqual(['x64', 'arm64']);
});

test('an executable is refused if the end of support of its Node is unknown', () => {
  const [fault] = unsupportedNodes(
    [{ ...targetNamed('x64'), node: { package: 'node', version: '99.0.0' } }],
    new Date(0),
    '',
  );
  expect(fault).toBe('the end of support of Node 99.0.0 is unknown: add it to assembly/node-lines.ts');
});
