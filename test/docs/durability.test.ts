import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');

test('the durability page defines the terms of the store, and the store uses each of them', () => {
  const page = text('docs/durability.md');
  const words = page.slice(page.indexOf('### Words'), page.indexOf('### Rules'));
  const defined = [...words.matchAll(/^\| ([a-z, ]+) \|/gm)].flatMap(([, row = '']) => row.split(', '));
  expect(defined.length).toBeGreaterThan(15);
  const sources = ['contents', 'journal', 'manifest', 'groups', 'compaction', 'segments', 'rows', 'record-types']
    .map((name) => text(`adapters/store/${name}.ts`))
    .join()
    .toLowerCase()
    // One word in the code, two on the page.
    .replaceAll('giveup', 'give up');
  expect(defined.filter((word) => word !== 'word' && !sources.includes(word))).toEqual([]);
});
