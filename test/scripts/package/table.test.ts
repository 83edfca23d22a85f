import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PAGE, pageWith, rowOf } from '../../../scripts/package/table.ts';
import { targetNamed, targets } from '../../../scripts/package/targets.ts';

const page = readFileSync(new URL(`../../../${PAGE}`, import.meta.url), 'utf8');

test('the page has each executable with the Node and the tool that it is made with', () => {
  for (const target of targets) expect(page).toContain(`\n${rowOf(target)} `);
});

test('new figures replace those of the page and nothing else', () => {
  const made = new Map(targets.map((target) => [target, { executable: 1_250_000, debian: 300_000, start: 51.6 }]));
  const written = pageWith(made);
  for (const target of targets) {
    const emulated = target.arch === process.arch ? '' : ' under emulation';
    expect(written).toContain(`\n${rowOf(target)} 1.3 MB | 0.3 MB | 52 ms${emulated} |\n`);
  }
  const withoutRows = (text: string): string => text.replaceAll(/^\| `vigie-linux-\w+` \| \d.*\n/gm, '');
  expect(withoutRows(written)).toBe(withoutRows(page));
});

test('an architecture that was not made is an error', () => {
  expect(() => pageWith(new Map())).toThrow(/was not made/);
});

test('an architecture is named as Node or as Debian names it', () => {
  expect(['x64', 'amd64', 'armv7', 'armhf', 'arm64'].map((name) => targetNamed(name).name)).toEqual([
    'x64',
    'x64',
    'armv7',
    'armv7',
    'arm64',
  ]);
  expect(() => targetNamed('i386')).toThrow('"i386" is no architecture: choose of x64, arm64, armv7');
});
