import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PAGE, pageWith, rowOf } from '../../../scripts/package/table.ts';
import { targetNamed, targets } from '../../../scripts/package/targets.ts';

const page = readFileSync(new URL(`../../../${PAGE}`, import.meta.url), 'utf8');

test('the page lists each executable with its Node and build tool', () => {
  for (const target of targets) expect(page).toContain(`\n${rowOf(target)} `);
});

test('new figures replace those on the page and change nothing else', () => {
  const made = new Map(targets.map((target) => [target, { executable: 1_250_000, debian: 300_000, start: 51.6 }]));
  const written = pageWith(made);
  for (const target of targets) {
    const emulated = target.arch === process.arch ? '' : ' under emulation';
    expect(written).toContain(`\n${rowOf(target)} 1.3 MB | 0.3 MB | 52 ms${emulated} |\n`);
  }
  const withoutRows = (text: string): string => text.replaceAll(/^\| `vigie-linux-\w+` \| \d.*\n/gm, '');
  expect(withoutRows(written)).toBe(withoutRows(page));
});

test('an architecture that was not built is an error', () => {
  expect(() => pageWith(new Map())).toThrow(/was not made/);
});

test('an architecture can have its Node or Debian name', () => {
  expect(['x64', 'amd64', 'armv7', 'armhf', 'arm64'].map((name) => targetNamed(name).name)).toEqual([
    'x64',
    'x64',
    'armv7',
    'armv7',
    'arm64',
  ]);
  expect(() => targetNamed('i386')).toThrow('"i386" is no architecture: choose of x64, arm64, armv7');
});
