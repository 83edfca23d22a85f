/** `npm run fleet` with a few cars on a hub that is killed. */
import { expect, test } from 'vitest';
import { runFleet } from '../../scripts/fleet/fleet.ts';

test('a fleet on a hub that is killed loses nothing and stores nothing twice', async () => {
  const said: string[] = [];
  const problems = await runFleet({
    cars: 10,
    minutes: 1,
    speed: 20,
    broker: 'embedded',
    nodes: 1,
    database: 'sqlite',
    failures: true,
    say: (text) => said.push(text),
  });
  expect(problems).toEqual([]);
  const all = said.join('\n');
  expect(all).toContain('hub one is killed');
  expect(all).toMatch(/\n {2}lost +0\n {2}duplicated +0\n/);
  expect(all).toMatch(/\n {2}GET status, whole run: no hub answered +\d+\n {2}the other hub answered +0\n/);
  const [, stored] = /\n {2}stored +([\d,]+)\n/.exec(all) ?? [];
  expect(Number(stored?.replaceAll(',', ''))).toBeGreaterThan(100);
});
