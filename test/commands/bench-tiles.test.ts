/** `vigie bench --tiles`: maps with custom tiles, for one car and for a fleet. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { VigieProcess, vigie } from '../rig/bench.ts';

const TILES = 'https://tiles.example/{z}/{x}/{y}.png';
const VIN = 'VF3VGEBENCH000001';
const folder = mkdtempSync(join(tmpdir(), 'vigie-bench-tiles-'));
let bench: VigieProcess | undefined;
afterEach(async () => {
  await bench?.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  ['one car', [], '/vigie/v1/car'],
  ['a fleet', ['--cars', '1'], `/vigie/v1/vehicles/${VIN}/car`],
])('the page of %s gets the address of the tiles and may load pictures from there', async (_, options, path) => {
  const ports = ['--port', '0', '--http', '0', '--scenario', 'parked'];
  const tiles = ['--tiles', TILES, '--tiles-attribution', 'Map by a test'];
  bench = new VigieProcess(['bench', '--data', folder, ...ports, ...tiles, ...options]);
  await bench.says('Ctrl-C ends the bench.');
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(bench.output)?.[0] ?? '';
  const car = await (await fetch(`${url}${path}`)).json();
  expect(car).toMatchObject({ vin: VIN, tiles: { url: TILES, attribution: 'Map by a test' } });
  const policy = (await fetch(url)).headers.get('content-security-policy');
  expect(policy).toContain("img-src 'self' https://tiles.example;");
  expect(await bench.end('SIGINT')).toBe(0);
});

test.each([
  [['--tiles', 'https://tiles.example/{z}/{x}.png'], 'the address is wrong: has no {y}: write an address such as'],
  [['--tiles', 'http://tiles.example/{z}/{x}/{y}.png'], 'others could read on the way where the car was: use https'],
  [['--tiles-attribution', 'Somebody'], '--tiles-attribution is for --tiles: add it, or leave both out'],
])('bench %j is refused: %s', async (options, said) => {
  const { status, stderr } = await vigie('bench', '--data', folder, ...options);
  expect(status).toBe(2);
  expect(stderr).toContain(said);
});
