/** Contents of the Debian package in addition to the executable. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandLine } from '../../../commands/vigie.ts';
import { debianChangelog } from '../../../scripts/package/changelog.ts';
import { contents } from '../../../scripts/package/contents.ts';
import { makePackage } from '../../../scripts/package/deb.ts';
import { sbomOf } from '../../../scripts/package/sbom.ts';
import { shells } from '../../../scripts/package/shells.ts';
import { targetNamed } from '../../../scripts/package/targets.ts';
import { testNeeding } from '../../needs.ts';
import { findPeer } from '../../rig/peers.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-contents-'));
const target = targetNamed('x64');
const files = new Map<string, string>();

// Help and completion load every command, which takes minutes on a busy machine.
beforeAll(async () => {
  for (const [place, bytes] of await contents(target, '0.1.0', new Date(0))) {
    files.set(place, String(place.endsWith('.gz') ? gunzipSync(bytes) : bytes));
  }
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function matching(pattern: RegExp): [place: string, text: string][] {
  return [...files].filter(([place]) => pattern.test(place));
}

/** Anchors of a page: its headings in small letters, without punctuation. */
function anchors(page: string): Set<string> {
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('every link on a packaged page leads to a file of the package and an existing heading', () => {
  const pages = matching(/\.md$/);
  expect(pages.length).toBeGreaterThan(20);
  const broken = pages.flatMap(([page, text]) =>
    [...text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)]
      .filter(([, target = '']) => !/^https?:/.test(target))
      .filter(([, target = '', anchor]) => {
        const place = target === '' ? page : join(dirname(page), target);
        const found = files.get(place);
        return found === undefined || (anchor !== undefined && !anchors(found).has(anchor));
      })
      .map(([link]) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('a page omits pictures that are not in the package', () => {
  const texts = matching(/\.md$/).filter(([, text]) => /(?<!`)![A-Z]/.test(text));
  expect(texts.map(([page]) => page)).toEqual([]);
});

test('pages, examples and manual pages use vigie, not npx', () => {
  const told = matching(/\.(md|yaml|conf|gz|service)$/).filter(([, text]) => /npx vigie|where npx finds/.test(text));
  expect(told.map(([place]) => place)).toEqual([]);
  expect(files.get('usr/share/doc/vigie/commands.md')).toContain('\nvigie keys make me --dir keys\n');
});

test('every command has a manual page with its options, and the page of the program names it', async () => {
  const manual = files.get('usr/share/man/man1/vigie.1.gz') ?? '';
  const program = await commandLine();
  expect(program.commands.length).toBeGreaterThan(10);
  for (const command of program.commands) {
    expect(manual).toContain(`.BR vigie\\-${command.name()} (1)`);
    const page = files.get(`usr/share/man/man1/vigie-${command.name()}.1.gz`) ?? '';
    expect(page).toContain(command.summary().replaceAll('-', '\\-'));
    // Hidden options are used by the program for its own processes.
    const shown = command.options.filter(({ hidden }) => !hidden);
    for (const { long } of shown) expect(page).toContain(long?.replaceAll('-', '\\-'));
  }
  expect(files.get('usr/share/man/man1/vigie-keys-make.1.gz')).toContain('\\-\\-algorithm');
  expect(files.get('usr/share/man/man1/vigie-check.1.gz')).toContain(
    '.SH EXAMPLES\n.nf\n  vigie check \\-c vigie.yaml',
  );
});

test('the examples are a configuration, the broker’s configuration, and the shipped profiles with their DBCs', () => {
  const places = matching(/\/examples\//).map(([place]) => place.slice('usr/share/doc/vigie/examples/'.length));
  expect(places).toEqual(
    expect.arrayContaining(['vigie.yaml', 'mosquitto.conf', 'profiles/bench/profile.yaml', 'profiles/bench/bench.dbc']),
  );
});

test('the Debian package has the bill of materials of its executable', () => {
  expect(files.get('usr/share/doc/vigie/sbom.cdx.json')).toBe(sbomOf({ kind: 'executable', target }));
});

test('at most six lintian tags are overridden, each with a reason before it', () => {
  const lines = (files.get('usr/share/lintian/overrides/vigie') ?? '').trim().split('\n');
  const tags = lines.filter((line) => line.startsWith('vigie:'));
  expect(tags.length).toBeLessThanOrEqual(6);
  for (const tag of tags) expect(lines[lines.indexOf(tag) - 1]).toMatch(/^# \w/);
});

test('the Debian changelog has the items of the newest version in Debian format', () => {
  const changes = `# Changes

## Unreleased: 0.2.0

- **Added**: a thing ([page](docs/page.md)) of \`vigie run\` whose name is long enough that the line breaks
  somewhere.
- Another.

## 0.1.0

- Old.
`;
  expect(
    debianChangelog(changes, '0.2.0', 'Vigie <a@b.example>', new Date(0)),
  ).toBe(`vigie (0.2.0) unstable; urgency=medium

  * Added: a thing (page) of vigie run whose name is long enough that the line
    breaks somewhere.
  * Another.

 -- Vigie <a@b.example>  Thu, 01 Jan 1970 00:00:00 +0000
`);
  expect(() => debianChangelog('# Changes\n', '0.2.0', '', new Date(0))).toThrow('the newest version has no items');
  const newest = readFileSync(fileURLToPath(new URL('../../../CHANGELOG.md', import.meta.url)), 'utf8');
  expect(debianChangelog(newest, '0.1.0', '', new Date(0))).toContain('\n  * The bench: vigie bench is');
});

testNeeding(
  findPeer('bash') !== undefined,
  'bash is not installed',
  'bash completes commands below commands, options, and the values of an option',
  async () => {
    const bash = shells(folder, await commandLine()).find(({ shell }) => shell === 'bash');
    expect(bash?.complete('vigie sca')).toEqual(['scan']);
    expect(bash?.complete('vigie check --prof')).toEqual(['--profile']);
    expect(bash?.complete('vigie check --format ')).toEqual(['ndjson', 'text']);
    expect(bash?.complete('vigie check -c ')).toEqual([]);
    expect(bash?.complete('vigie keys ma')).toEqual(['make']);
    expect(bash?.complete('vigie keys make --algo')).toEqual(['--algorithm']);
  },
);

testNeeding(
  findPeer('dpkg-deb') !== undefined,
  'dpkg-deb is not installed',
  'becomes the same package for Debian again, with owner and modes',
  async () => {
    const [one, two] = [join(folder, 'one.deb'), join(folder, 'two.deb')];
    const small = join(folder, 'small');
    writeFileSync(small, 'stands for the executable');
    for (const file of [one, two]) await makePackage(target, { path: small, kind: 'executable' }, file, 'quick');
    expect(readFileSync(two).equals(readFileSync(one))).toBe(true);
    const listed = execFileSync('dpkg-deb', ['--contents', one], { encoding: 'utf8' });
    expect(listed).toMatch(/^-rwxr-xr-x root\/root .* \.\/usr\/lib\/vigie\/vigie$/m);
    expect(listed).toMatch(/ \.\/usr\/bin\/vigie -> \.\.\/lib\/vigie\/vigie$/m);
    expect(listed).toMatch(/^-rw-r--r-- root\/root .* \.\/usr\/lib\/systemd\/system\/vigie\.service$/m);
    expect(execFileSync('dpkg-deb', ['--field', one, 'Architecture'], { encoding: 'utf8' }).trim()).toBe(target.debian);
    const folderOfControl = join(folder, 'control');
    execFileSync('dpkg-deb', ['--control', one, folderOfControl]);
    expect(readFileSync(join(folderOfControl, 'conffiles'), 'utf8')).toBe('/etc/vigie/vigie.yaml\n');
  },
);

testNeeding(
  findPeer('dpkg-deb') !== undefined,
  'dpkg-deb is not installed',
  'the package of the program alone runs on the Node of the system, and replaces the one that carries its own',
  async () => {
    const file = join(folder, 'script.deb');
    const script = join(folder, 'script.cjs');
    writeFileSync(script, '// stands for the program');
    await makePackage(targetNamed('armhf'), { path: script, kind: 'script' }, file, 'quick');
    const field = (name: string): string =>
      execFileSync('dpkg-deb', ['--field', file, name], { encoding: 'utf8' }).trim();
    expect(field('Depends')).toMatch(/^nodejs \(>= 20\.19\), /);
    expect([field('Package'), field('Architecture')]).toEqual(['vigie', 'armhf']);
    expect(field('Version')).toMatch(/^[\d.]+\+node$/);
    const unpacked = join(folder, 'unpacked');
    execFileSync('dpkg-deb', ['--extract', file, unpacked]);
    expect(readFileSync(join(unpacked, 'usr/bin/vigie'), 'utf8')).toContain(
      'exec /usr/bin/node --disallow-code-generation-from-strings /usr/lib/vigie/vigie.cjs',
    );
    expect(readFileSync(join(unpacked, 'usr/lib/vigie/vigie.cjs'), 'utf8')).toBe('// stands for the program');
  },
);
