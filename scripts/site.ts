/**
 * `npm run docs [-- --out FOLDER --base /PATH/]`: builds the pages of the project as a site in dist/site: README.md,
 * docs/ and the other pages, with a search, and the API of the library from `assembly/generated/*.d.ts`. The tools are
 * packages of their own (scripts/site/package.json), which it installs the first time. Fails if a link leads to a page
 * that is missing.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const tools = join(root, 'scripts/site');
const site = join(tools, '.pages');
/** Pages. The first one is the front page. */
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CODE_OF_CONDUCT.md', 'SECURITY.md', 'CHANGELOG.md'];

try {
  const { out, base } = parseArgs({
    options: { out: { type: 'string', default: join(root, 'dist/site') }, base: { type: 'string', default: '/' } },
  }).values;
  installTools();
  rmSync(site, { recursive: true, force: true });
  cpSync(join(root, 'docs'), join(site, 'docs'), { recursive: true });
  for (const page of PAGES) cpSync(join(root, page), join(site, page));
  for (const page of pagesIn(site)) copyLinked(page);
  describeLibrary();
  mkdirSync(join(site, '.vitepress'));
  // Files that are not pages are served unchanged. VitePress treats links to them as links to pages without a file
  // extension.
  const served = 'ignoreDeadLinks: [/\\.(?:py|cddl|json)$/]';
  writeFileSync(
    join(site, '.vitepress/config.mjs'),
    `export default { ...${JSON.stringify(configuration())}, ${served} };\n`,
  );
  tool('vitepress', 'build', site, '--outDir', resolve(out), '--base', base);
  console.log(`${relative(process.cwd(), resolve(out))} is the site: serve its files by any web server`);
} catch (error) {
  console.error(`docs: ${(error as Error).message}`);
  process.exitCode = 1;
}

function installTools(): void {
  if (existsSync(join(tools, 'node_modules/.package-lock.json'))) return;
  run(tools, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
}

/** Copies files of the project to which a page links: pages as pages, other files unchanged. */
function copyLinked(page: string): void {
  for (const [, link = ''] of readFileSync(join(site, page), 'utf8').matchAll(/\]\(([^)#:\s]+)[^)\s]*\)/g)) {
    const file = join(dirname(page), link);
    if (file.startsWith('..') || /\.(?:png|svg)$/.test(file) || !existsSync(join(root, file))) continue;
    cpSync(join(root, file), join(site, file.endsWith('.md') ? file : join('public', file)), { recursive: true });
  }
}

/**
 * Writes pages with the exports of each sub-path of the package to `api/`. Types that are not exported appear only by
 * name.
 */
function describeLibrary(): void {
  const declarations = join(root, 'assembly/generated');
  const entries = readdirSync(declarations).filter((name) => name.endsWith('.d.ts'));
  writeFileSync(
    join(site, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { target: 'esnext', module: 'esnext', types: [], skipLibCheck: true, noEmit: true },
      files: entries.map((name) => join(declarations, name)),
    }),
  );
  tool(
    ...(['typedoc', '--plugin', 'typedoc-plugin-markdown', '--tsconfig', join(site, 'tsconfig.json')] as const),
    '--skipErrorChecking',
    '--readme',
    'none',
    '--name',
    'The library',
    '--disableSources',
    '--logLevel',
    'Error',
    '--entryFileName',
    'index',
    '--hideBreadcrumbs',
    '--sanitizeComments',
    '--out',
    join(site, 'api'),
    ...entries.map((name) => join(declarations, name)),
  );
}

function configuration(): object {
  const api = readdirSync(join(site, 'api'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return {
    title: 'Vigie',
    description: 'The agent in a car’s telematics unit, and its hub',
    rewrites: { 'README.md': 'index.md' },
    themeConfig: {
      search: { provider: 'local' },
      outline: { level: [2, 3] },
      sidebar: [
        { text: 'Vigie', items: inOrderOfReadme().map((page) => ({ text: titleOf(page), link: linkOf(page) })) },
        {
          text: 'The library',
          link: '/api/',
          items: api.map(({ name }) => ({
            text: name === 'index' ? 'vigie' : `vigie/${name}`,
            link: `/api/${name}/`,
          })),
        },
        { text: 'The project', items: PAGES.slice(1).map((page) => ({ text: titleOf(page), link: linkOf(page) })) },
      ],
    },
  };
}

/** Returns the pages of docs/, beginning with those to which README.md links. */
function inOrderOfReadme(): readonly string[] {
  const linked = [...readFileSync(join(site, 'README.md'), 'utf8').matchAll(/\]\((docs\/[\w-]+\.md)/g)];
  const all = pagesIn(join(site, 'docs')).map((name) => join('docs', name));
  return [...new Set([PAGES[0] as string, ...linked.map(([, page]) => page as string), ...all])];
}

function pagesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
}

function titleOf(page: string): string {
  const [, title = page] = /^# (.*)$/m.exec(readFileSync(join(site, page), 'utf8')) ?? [];
  return title.replaceAll('`', '');
}

function linkOf(page: string): string {
  return page === PAGES[0] ? '/' : `/${page.replace(/\.md$/, '')}`;
}

function tool(name: string, ...args: readonly string[]): void {
  run(tools, join(tools, 'node_modules/.bin', name), ...args);
}

/** @throws Error with the command's output if the command fails */
function run(cwd: string, command: string, ...args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? `${stdout}${stderr}`.trim()}`);
}
