import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { classes } from '../../protocol/classes.ts';
import { errors } from '../../protocol/errors.ts';
import { kinds } from '../../protocol/schema/kind.ts';
import { downKinds } from '../../protocol/topics.ts';
import { vigie } from '../rig/bench.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = (name: string): string => readFileSync(join(root, name), 'utf8');
const manifest = JSON.parse(page('package.json')) as Record<string, Record<string, string>>;
/** Every page. */
const pages = ['.', 'docs'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file)),
);
const folders = (name: string): string[] =>
  readdirSync(join(root, name), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

/** Folders without rooms: packages, results and pages. */
const unread = new Set(['node_modules', 'dist', 'coverage', 'docs']);

describe('statements on the pages', () => {
  test('the README names every room, and every adapter by its folder', () => {
    const readme = page('README.md');
    const sources = folders('.').filter((name) => /^[a-z]/.test(name) && !unread.has(name));
    for (const room of sources) expect(readme, room).toMatch(new RegExp(`^\\| \`${room}[\`/]`, 'm'));
    const row = readme.split('\n').find((line) => line.startsWith('| `adapters/*`')) ?? '';
    const named = [...row.matchAll(/`([a-z]+)`/g)].map(([, name]) => name);
    expect(folders('adapters').filter((name) => !named.includes(name))).toEqual([]);
  });

  test('the architecture page names every room of core and adapters, and only existing files', () => {
    const architecture = page('docs/architecture.md');
    for (const room of ['agent', 'adapters']) {
      const section = architecture.slice(architecture.indexOf(`| in \`${room}/\``)).split('\n\n')[0] ?? '';
      const named = [...section.matchAll(/`([a-z-]+(?:\/|\.ts))`/g)].map(([, name]) => name as string);
      expect(folders(room).filter((name) => !named.includes(`${name}/`))).toEqual([]);
      for (const name of named) if (name !== `${room}/`) expect(existsSync(join(root, room, name)), name).toBe(true);
    }
    for (const [, path = ''] of architecture.matchAll(
      /`((?:agent|adapters|protocol|commands|test)\/[a-z/-]+(?:\.ts)?)`/g,
    )) {
      expect(existsSync(join(root, path)), path).toBe(true);
    }
  });

  test('the README uses commands that exist', async () => {
    const { stdout } = await vigie('--help');
    const used = new Set([...page('README.md').matchAll(/npx vigie ([a-z]+)/g)].map(([, name]) => name as string));
    expect(used.size).toBeGreaterThan(4);
    for (const name of used) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  });

  test('every link between pages leads to an existing page', () => {
    for (const name of pages) {
      for (const [, target] of page(name).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
        expect(existsSync(join(root, dirname(name), target as string)), `${name} → ${target}`).toBe(true);
      }
    }
  });

  test('every heading that a link names exists', () => {
    const anchors = (file: string): string[] =>
      [...page(file).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
        (title as string)
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
      );
    let links = 0;
    for (const name of pages) {
      for (const [, file = '', anchor = ''] of page(name).matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)) {
        expect(anchors(file === '' ? name : join(dirname(name), file)), `${name} → ${file}#${anchor}`).toContain(
          anchor,
        );
        links++;
      }
    }
    expect(links).toBeGreaterThan(5);
  });

  test('every file named in CONTRIBUTING and the threat model exists, with its tests by title', () => {
    for (const name of ['CONTRIBUTING.md', 'docs/security.md']) {
      const named = [...page(name).matchAll(/`([a-z.]+\/[^`\s]+\.[a-z]+)`((?:[:,]? "[^"]+")*)/g)];
      expect(named.length).toBeGreaterThan(20);
      for (const [, file = '', titles = ''] of named) {
        if (file.includes('NAME')) continue;
        expect(existsSync(join(root, file)), `${name}: ${file}`).toBe(true);
        for (const [, title = ''] of titles.matchAll(/"([^"]+)"/g)) {
          expect(page(file), `${name}: ${file}`).toContain(`'${title.replaceAll(/\s+/g, ' ')}'`);
        }
      }
    }
  });

  test('every dependency has a reason, and every reason its dependency', () => {
    const { dependencies, devDependencies, peerDependencies } = manifest;
    const { optionalDependencies } = JSON.parse(page('scripts/node/package.json')) as typeof manifest;
    const text = page('docs/dependencies.md');
    const rows = [...text.matchAll(/^\| (`.+?`) +\|/gm)].flatMap(([, cell]) =>
      [...(cell as string).matchAll(/`([^`]+)`/g)].map(([, name]) => name as string),
    );
    const peers = JSON.parse(page('scripts/benchmark/peers/package.json')) as typeof manifest;
    const used = Object.keys({
      ...dependencies,
      ...devDependencies,
      ...peerDependencies,
      ...optionalDependencies,
      ...peers['dependencies'],
    });
    const plain = used.filter((name) => !name.startsWith('@types/'));
    expect(rows.filter((name) => name !== '@types/*').sort()).toEqual(plain.sort());
  });

  test('the wire format page lists the actual priority classes', () => {
    const text = page('docs/wire-format.md');
    for (const [index, { kinds }] of classes.entries()) expect(text).toContain(`| ${index} | ${kinds.join(', ')} |`);
  });

  test('the wire format page lists the kinds of both directions', () => {
    const row = (direction: string): string =>
      new RegExp(`^\\| \`vigie/1/\\{vin\\}/${direction}/\\{kind\\}\`.*$`, 'm').exec(page('docs/wire-format.md'))?.[0] ??
      '';
    const named = (text: string): string[] => text.split(/[^a-z]+/);
    expect(named(row('up'))).toEqual(expect.arrayContaining([...kinds]));
    expect(named(row('down'))).toEqual(expect.arrayContaining([...downKinds]));
  });

  test('every error code is used', () => {
    const sources = ['agent', 'adapters', 'assembly', 'config', 'commands', 'protocol']
      .flatMap((room) =>
        readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((file) => join(room, file)),
      )
      .filter((file) => file.endsWith('.ts') && file !== join('protocol', 'errors.ts'))
      .map(page)
      .join('\n');
    expect(Object.keys(errors).filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
  });
});
