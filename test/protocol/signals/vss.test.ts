import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pathOfVss, vssName, vssPaths } from '../../../protocol/signals/vss.ts';
import { slotByPath } from '../../../protocol/slots.ts';

test('every path with a VSS name is a path of Status, and is found by that name', () => {
  for (const path of vssPaths) {
    expect(slotByPath.has(path), path).toBe(true);
    expect(pathOfVss(vssName(path)?.name ?? '')).toBe(path);
  }
  expect(vssName('privacy.state')).toBeUndefined();
  expect(pathOfVss('Vehicle.Nothing')).toBeUndefined();
});

test('the page lists every path with its VSS name and factor', () => {
  const page = readFileSync(new URL('../../../docs/interface.md', import.meta.url), 'utf8');
  const listed = page.split('\n').filter((line) => /^\| `[\w.]+` \| `Vehicle\./.test(line));
  const rows = vssPaths.map((path) => {
    const { name, factor } = vssName(path) ?? { name: '', factor: 1 };
    return `| \`${path}\` | \`${name}\` | ${factor} |`;
  });
  expect(listed).toEqual(rows);
});
