/**
 * Cars with names in the styles of several makers. Each `styles/*.yaml` has the lines that an expert would accept for
 * `styles/*.dbc`, and the questions. An additional line is wrong, and a missing line was not found.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { suggestedFor } from './suggested.ts';

const folder = fileURLToPath(new URL('styles/', import.meta.url));
const styles = readdirSync(folder).filter((name) => name.endsWith('.dbc'));

test('there are cars of several naming styles', () => {
  expect(styles.length).toBeGreaterThanOrEqual(6);
});

test.each(styles)('the profile suggested for %s has exactly these lines and questions', (name) => {
  const { lines, questions } = suggestedFor([folder + name]);
  const expected = parse(readFileSync(folder + name.replace('.dbc', '.yaml'), 'utf8'));
  expect(lines).toEqual(expected.lines);
  expect(questions).toEqual(expected.questions);
});
