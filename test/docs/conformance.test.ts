/** The conformance list covers everything that the interface requires, and names existing files. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { requestedEntries } from '../protocol/interface/published/facts.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/conformance.md', root), 'utf8');

/** Sections of the page with their rows and trimmed cells. */
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      const rows = lines.filter((line) => line.startsWith('| ') && !/^\| (entry|-)/.test(line));
      return [
        title,
        rows.map((row) =>
          row
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim()),
        ),
      ] as const;
    }),
);

test('every file named on the page exists', () => {
  const named = [...page.matchAll(/`([a-z]+\/[^`]+)`/g)].map(([, path]) => path as string);
  expect(named.length).toBeGreaterThan(40);
  for (const path of named) expect(existsSync(new URL(path, root)), path).toBe(true);
});

test('every entry names a file and a test, or is marked open', () => {
  for (const [title, rows] of sections) {
    for (const [entry, what, carried, tested] of rows) {
      expect(entry?.startsWith(`${title.split(' ')[0]}.`), entry).toBe(true);
      expect(what).not.toBe('');
      if (carried === '—') expect(tested, entry).toMatch(/^open: /);
      else expect(tested, entry).toMatch(/^`test\//);
    }
  }
});

test('every requirement of the service is on the page', () => {
  const entries = new Map([...sections].map(([title, rows]) => [title, rows.length]));
  expect(entries).toEqual(requestedEntries());
});
