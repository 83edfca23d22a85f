/**
 * `npm run test:hub -- AREA…`: runs the tests of some areas of the hub; without arguments, of all. `npm test` also runs
 * these tests, and `npm run test:engines` runs those with PostgreSQL and brokers.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { hubAreas } from './hub-areas.ts';

const areas = process.argv.slice(2);
const unknown = areas.filter((area) => !Object.hasOwn(hubAreas, area));
if (unknown.length > 0) {
  const known = Object.keys(hubAreas).join(', ');
  console.error(`there is no area ${unknown.join(', ')}: choose from ${known}, or give none to test all`);
  process.exit(2);
}
const files = new Set((areas.length === 0 ? Object.keys(hubAreas) : areas).flatMap((area) => hubAreas[area] ?? []));
const runner = fileURLToPath(new URL('test.ts', import.meta.url));
process.exitCode = spawnSync(process.execPath, [runner, ...files], { stdio: 'inherit' }).status ?? 1;
