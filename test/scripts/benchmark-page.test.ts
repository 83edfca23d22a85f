/** Sections of docs/performance.md that are measured without a whole run. */
import { expect, test } from 'vitest';
import { withSections } from '../../scripts/benchmark/page.ts';

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

test('a section that the page lacks comes where a whole run writes it, and all others stay as they are', () => {
  const written = withSections(page, new Map([['Second', '## Second\n\ntwo\n']]), order);
  expect(written).toBe(page.replace('## Third', '## Second\n\ntwo\n\n## Third'));
});

test('a section that the page has is replaced, also the last one', () => {
  const texts = new Map([
    ['Third', '## Third\n\n3\n\n'],
    ['First', '## First\n\n1\n'],
  ]);
  const written = withSections(page, texts, order);
  expect(written).toBe(page.replace('one', '1').replace('### Table\n\nthree', '3'));
  expect(withSections(written, texts, order)).toBe(written);
});

test('a section that no whole run writes is refused', () => {
  expect(() => withSections(page, new Map([['Fourth', '## Fourth\n']]), order)).toThrow('no section Fourth');
});
