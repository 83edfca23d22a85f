/** Few files know the name of a number that people set; the compiler finds them, which takes a whole check of types. */
import { expect, test } from 'vitest';
import * as declared from '../../protocol/settings.ts';
import { settingFiles } from '../../scripts/setting-files.ts';

test('no setting of vigie.yaml is named by more than four files', () => {
  const files = settingFiles();
  const names = Object.entries(declared).flatMap(([name, group]) =>
    typeof group === 'object' && name !== 'watchedSettings' ? Object.keys(group) : [],
  );
  expect([...files.keys()].sort()).toEqual([...new Set(names)].sort());
  // Each is used where the program takes it, so a compiler that finds nothing has not looked.
  expect([...files].filter(([, paths]) => paths.length < 2)).toEqual([]);
  expect([...files].filter(([, paths]) => paths.length > 4)).toEqual([]);
});
