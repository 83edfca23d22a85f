import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as slotRecord from '../../adapters/can/dbc/decoding/slot-record.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/decoder.md', root), 'utf8');

test('the drawing of a record on the decoder page has every number in its place', () => {
  const drawn = [...page.matchAll(/^ {2,4}(\d+) ([A-Z_]+) /gm)].map(([, place, name]) => [name, Number(place)]);
  expect(drawn).toHaveLength(18);
  expect(Object.fromEntries(drawn)).toEqual(
    Object.fromEntries(Object.keys(Object.fromEntries(drawn)).map((name) => [name, Reflect.get(slotRecord, name)])),
  );
});

test('the decoder page names every file of its directory', () => {
  const files = readdirSync(new URL('adapters/can/dbc/decoding/', root));
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => !page.includes(`\`${file}\``))).toEqual([]);
});
