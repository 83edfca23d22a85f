import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { hubAreas } from '../../scripts/hub-areas.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const named = Object.values(hubAreas).flat();

test('an unknown area of the hub is refused with a list of all areas', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'scripts/test-hub.ts'), 'thread', 'treads'],
    { encoding: 'utf8' },
  );
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toBe(
    'there is no area treads: choose from thread, contract, numbers, commands, live, monitors, enrol, rollout, brokers, ' +
      'failure, retention, exits, restore, keys, scale, or give none to test all\n',
  );
});

test('every file and folder of an area exists, so that no area runs less than it claims', () => {
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('every hub test file belongs to an area', () => {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((path) => `test/${path}`)
    .filter((path) => /\/hub\/.+\.test\.ts$|\/hub(-[a-z-]+)?(\.engine)?\.test\.ts$/.test(path))
    .filter((path) => path !== 'test/scripts/hub-areas.test.ts');
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((path) => !named.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual([]);
});
