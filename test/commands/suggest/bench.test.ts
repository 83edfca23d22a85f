/** The profile of the bench car is hand-written. The suggestion for its DBC must agree with it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { suggestedFor, type WrittenSource } from './suggested.ts';

const shipped = fileURLToPath(new URL('../../../config/vehicles/bench/', import.meta.url));
const profile = parse(readFileSync(`${shipped}profile.yaml`, 'utf8'));
const { lines } = suggestedFor([`${shipped}bench.dbc`]);

/** Hand-written sources of a path of Status or a channel. */
function writtenFor(path: string): WrittenSource[] {
  const [section = '', ...member] = path.split('.');
  return [profile.status[path] ?? profile[section]?.[member.join('.')] ?? []].flat();
}

test('most paths of the bench profile are suggested', () => {
  const paths = Object.keys(profile.status);
  expect(paths.filter((path) => path in lines).length / paths.length).toBeGreaterThanOrEqual(0.6);
});

test.each(Object.entries(lines))('%s has the signal, the unit and the values of the bench profile', (path, line) => {
  const same = writtenFor(path).find(({ signal }) => signal === line.signal);
  expect(
    same?.signal,
    writtenFor(path)
      .map(({ signal }) => signal)
      .join(', '),
  ).toBe(line.signal);
  expect({ scale: line.scale, offset: line.offset }).toEqual({ scale: same?.scale, offset: same?.offset });
  // Without a map, every value except 0 is true.
  expect(line.map ?? {}).toEqual(same?.map ?? (line.map === undefined ? {} : { 0: false, 1: true }));
});
