/** A number that people set is declared once, and few files know its name. */
import { expect, test } from 'vitest';
import * as declared from '../../protocol/settings.ts';
import { settingFiles } from '../../scripts/setting-files.ts';

type Declared = Readonly<Record<string, declared.NumberSetting>>;

const groups = Object.entries(declared).flatMap(([name, group]) =>
  typeof group === 'object' && name !== 'watchedSettings' ? [[name, group as Declared] as const] : [],
);

test('no setting of vigie.yaml is named by more than four files', () => {
  const files = settingFiles();
  const names = groups.flatMap(([, group]) => Object.keys(group));
  expect([...files.keys()].sort()).toEqual([...new Set(names)].sort());
  // Each is used where the program takes it, so a compiler that finds nothing has not looked.
  expect([...files].filter(([, paths]) => paths.length < 2)).toEqual([]);
  expect([...files].filter(([, paths]) => paths.length > 4)).toEqual([]);
});

test.each(groups)('the defaults of %s are in the range of the setting', (_, group) => {
  for (const [name, { default: value, form = {}, range = { fault: '', fix: '' } }] of Object.entries(group)) {
    const { minimum = value, maximum = value } = form;
    const { least = value, most = value, step = value } = range;
    expect(value, name).toBeGreaterThanOrEqual(Math.max(minimum, least));
    expect(value, name).toBeLessThanOrEqual(Math.min(maximum, most));
    expect(value % step, name).toBe(0);
  }
});
