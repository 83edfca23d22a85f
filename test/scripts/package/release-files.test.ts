import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checksums, notesOf, withDate, withRepository } from '../../../scripts/package/release-files.ts';

const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), 'utf8');
const version = (JSON.parse(read('package.json')) as { version: string }).version;

test.each(['https://example.org/owner/vigie', 'https://example.org/owner/vigie.git'])(
  'the manifest names repository, page and issues of %s',
  (url) => {
    const before = JSON.parse(read('package.json'));
    const after = JSON.parse(withRepository(read('package.json'), url));
    expect(after).toEqual({
      ...before,
      repository: { type: 'git', url: 'git+https://example.org/owner/vigie.git' },
      homepage: 'https://example.org/owner/vigie#readme',
      bugs: 'https://example.org/owner/vigie/issues',
    });
    expect(withRepository(withRepository(read('package.json'), url), url)).toBe(
      withRepository(read('package.json'), url),
    );
  },
);

test.each([
  'vigie',
  'git@example.org:owner/vigie',
  'http://example.org/owner/vigie',
  'https://example.org',
  'https://example.org/vigie/',
])('an address that browsers cannot open is refused: %s', (url) =>
  expect(() => withRepository(read('package.json'), url)).toThrow('give an address such as'),
);

test('the newest version in the changelog gets its date, and its items become the release notes', () => {
  const dated = withDate(read('CHANGELOG.md'), version, '2026-11-27');
  expect(dated).toContain(`\n## ${version} - 2026-11-27\n`);
  expect(notesOf(dated)).toMatch(/^The first version\.\n\n### Added\n/);
  expect(notesOf('# Changes\n\n## 2.0.0 - 2027-01-01\n\nNew.\n\n## 1.0.0\n\nOld.\n')).toBe('New.\n');
  expect(() => withDate(dated, version, '2026-11-28')).toThrow(`write "## Unreleased: ${version}"`);
});

test('checksums are listed in the order of the names', () => {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const files = new Map([
    ['b', Buffer.from('2')],
    ['a', Buffer.from('1')],
  ]);
  expect(checksums(files)).toBe(`${digest('1')}  a\n${digest('2')}  b\n`);
});
