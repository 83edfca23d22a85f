/** Counted nouns in the output for people. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { counted } from '../../protocol/counted.ts';
import { vigie } from '../rig/bench.ts';
import { smallCar } from './small-car.ts';

const car = smallCar();
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

test('one is singular, all others are plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'error'))).toEqual(['0 errors', '1 error', '2 errors']);
  expect(counted(1, 'line was', 'lines were')).toBe('1 line was');
  expect(counted(12, 'line was', 'lines were')).toBe('12 lines were');
});

test.each([
  ['unknown: 1\n', '1 error\n'],
  ['unknown: 1\nneither: 1\n', '2 errors\n'],
])('check prints counted errors: %j', async (more, said) => {
  const file = join(car.folder, 'faulty.yaml');
  const sound = 'profile: 1\nname: small\ntitle: A small car\nbuses:\n  - { name: can, dbc: [small.dbc] }\n';
  writeFileSync(file, `${sound}status: { kinetic.speed: { signal: MOTION.Speed } }\n${more}`);
  const { stderr, status } = await vigie('check', '--profile', file);
  expect([stderr, status]).toEqual([said, 2]);
});

test('decode prints counted lines that were left out', async () => {
  const log = car.file('broken.log', `${car.lines.slice(0, 5).join('\n')}\n(not a time) can0 100#00\n`);
  const { stderr } = await vigie('decode', log, '--dbc', car.dbc);
  expect(stderr).toContain('5 frames read as candump, 1 left out (16.7 %)\n');
});

test('replay prints counted frames', async () => {
  const log = car.file('one.log', `${car.lines[0]}\n`);
  const { stderr } = await vigie('replay', log, '--profile', car.profile);
  expect(stderr).toMatch(/^1 frame in /m);
});
