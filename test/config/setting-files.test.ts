/** Numeric settings and their ranges. */
import { expect, test } from 'vitest';
import * as declared from '../../protocol/settings.ts';

type Declared = Readonly<Record<string, declared.NumberSetting>>;

const groups = Object.entries(declared).flatMap(([name, group]) =>
  typeof group === 'object' && name !== 'watchedSettings' ? [[name, group as Declared] as const] : [],
);

test.each(groups)('the defaults of %s are within the range of the setting', (_, group) => {
  for (const [name, { default: value, form = {}, range = { fault: '', fix: '' } }] of Object.entries(group)) {
    const { minimum = value, maximum = value } = form;
    const { least = value, most = value, step = value } = range;
    expect(value, name).toBeGreaterThanOrEqual(Math.max(minimum, least));
    expect(value, name).toBeLessThanOrEqual(Math.min(maximum, most));
    expect(value % step, name).toBe(0);
  }
});
