/** Compares the hand-written Peugeot profile with the suggestion for its DBC files. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { inspectVehicle } from '../../../assembly/vehicle.ts';
import { profileText } from '../../../commands/suggest/profile-text.ts';
import { suggestedFor, type WrittenSource } from './suggested.ts';

const shipped = fileURLToPath(new URL('../../../config/vehicles/psa-aee2010/', import.meta.url));
const files = ['infotainment.dbc', 'inter-systems.dbc'].map((name) => shipped + name);
const profile = parse(readFileSync(`${shipped}profile.yaml`, 'utf8'));
const written = profile.status as Record<string, WrittenSource | WrittenSource[]>;
const { lines, suggestions } = suggestedFor(files);

const folder = mkdtempSync(join(tmpdir(), 'vigie-suggest-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sourcesOf = (path: string): readonly WrittenSource[] => [written[path] ?? []].flat();

test('at least 60 % of the paths of the shipped profile are suggested from one of its signals', () => {
  const paths = Object.keys(written);
  const found = paths.filter((path) => sourcesOf(path).some(({ signal }) => signal === lines[path]?.signal));
  expect(found.length / paths.length).toBeGreaterThanOrEqual(0.6);
});

test('no path is suggested that the shipped profile lacks', () => {
  expect(Object.keys(lines).filter((path) => !(path in written))).toEqual([]);
});

test('every suggested number has the scale and offset of the shipped profile', () => {
  const numbers = Object.entries(lines).filter(([, { map }]) => map === undefined);
  expect(numbers.length).toBeGreaterThan(10);
  for (const [path, { signal, scale, offset }] of numbers) {
    const same = sourcesOf(path).find((source) => source.signal === signal);
    expect({ path, signal, scale, offset }).toEqual({ path, signal, scale: same?.scale, offset: same?.offset });
  }
});

test('no suggested map contradicts the shipped profile', () => {
  const maps = Object.entries(lines).filter(([, { map }]) => map !== undefined);
  expect(maps.length).toBeGreaterThan(20);
  for (const [path, { signal, map }] of maps) {
    const same = sourcesOf(path).find((source) => source.signal === signal);
    expect(same?.map, `${path} of ${signal}`).toMatchObject(map as object);
  }
});

test('the suggested profile passes check without findings', () => {
  const file = join(folder, 'my-car.yaml');
  writeFileSync(file, profileText(file, [{ name: 'car', dbc: files }], suggestions, 'two files'));
  const { vehicle, diagnostics } = inspectVehicle(file);
  expect(diagnostics).toEqual([]);
  expect(vehicle?.profile.name).toBe('my-car');
});
