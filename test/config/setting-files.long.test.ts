/** Few files may name a numeric setting. The compiler finds these files, which takes a complete type check. */
import { expect, test } from 'vitest';
import * as declared from '../../protocol/settings.ts';
import { settingFiles } from '../../scripts/setting-files.ts';

test('at most four files name a setting of vigie.yaml', () => {
  const files = settingFiles();
  const names = Object.entries(declared).flatMap(([name, group]) =>
    typeof group === 'object' && name !== 'watchedSettings' ? Object.keys(group) : [],
  );
  expect([...files.keys()].sort()).toEqual([...new Set(names)].sort());
  // Each setting is used at least once, which proves that the compiler found the uses.
  expect([...files].filter(([, paths]) => paths.length < 2)).toEqual([]);
  expect([...files].filter(([, paths]) => paths.length > 4)).toEqual([]);
});
