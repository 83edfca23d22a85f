/** Sections of the results that are measured without a whole run, and the tables of docs/performance.md. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withSections } from '../../scripts/benchmark/page.ts';
import { figuresOf } from '../../scripts/performance-page.ts';

const page = `# Performance

Written.

## Targets

### 1 of 1 reached

## First

one

## Third

### Table

three
`;
const order = ['First', 'Second', 'Third'];

test('a section missing on the page is inserted in the order of a full run, and all others stay', () => {
  const written = withSections(page, new Map([['Second', '## Second\n\ntwo\n']]), order);
  expect(written).toBe(page.replace('## Third', '## Second\n\ntwo\n\n## Third'));
});

test('an existing section is replaced, also the last one', () => {
  const texts = new Map([
    ['Third', '## Third\n\n3\n\n'],
    ['First', '## First\n\n1\n'],
  ]);
  const written = withSections(page, texts, order);
  expect(written).toBe(page.replace('one', '1').replace('### Table\n\nthree', '3'));
  expect(withSections(written, texts, order)).toBe(written);
});

test('a section unknown to the full run is refused', () => {
  expect(() => withSections(page, new Map([['Fourth', '## Fourth\n']]), order)).toThrow('no section Fourth');
});

const results = readFileSync(new URL('../../scripts/benchmark/results.md', import.meta.url), 'utf8');

test('the page has every target that the results missed, with its figure, and marks no other as missed', () => {
  // The first table; the second one has the targets that other programs measure.
  const targets = results.split(/^### \d+ of \d+ reached$/m)[1]?.split(/^##/m)[0] ?? '';
  const rows = [...targets.matchAll(/^\| (.* \| at (?:least|most) .*) \|$/gm)].map(([, cells = '']) =>
    cells.split(' | '),
  );
  expect(rows.length).toBeGreaterThan(40);
  const lines = figuresOf(results).split('\n');
  for (const [, what = '', wanted = '', measured, ...rest] of rows) {
    expect(wanted).toMatch(/^at (least|most) /);
    const row = lines.find((line) => line.includes(`${what} `) && line.includes('**missed**'));
    if (rest.at(-1)?.startsWith('**missed') === true) expect(row, what).toContain(`**missed** with ${measured} |`);
    else expect(row, what).toBeUndefined();
  }
  const missed = (text: string): number => text.match(/\*\*missed/g)?.length ?? 0;
  expect(missed(targets)).toBeGreaterThan(0);
  expect(missed(lines.join('\n'))).toBe(missed(targets));
});

test('a program that was not installed is named below the table', () => {
  const note = '- no python-can: `apt-get install python3-can` brings it';
  expect(figuresOf(`${results}\n${note}\n`)).toContain(`Not measured beside it:\n\n${note}`);
});

test('a comparison that was not measured is left out, and results without targets are refused', () => {
  const row = '| **frames missing under load** |';
  expect(figuresOf(results)).toContain(row);
  expect(figuresOf(results.replace('## CAN under load', '## Something else'))).not.toContain(row);
  expect(() => figuresOf(results.replace('## Targets', '## Other'))).toThrow('has no table of targets');
});
