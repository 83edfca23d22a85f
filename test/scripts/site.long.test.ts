/** `npm run docs`: every page is on the site, with working links, and the library with its sub-paths. Needs the npm registry. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('../../', import.meta.url));

test('npm run docs builds a site with all pages and the library', () => {
  const out = mkdtempSync(join(tmpdir(), 'vigie-site-'));
  try {
    const options = { cwd: root, encoding: 'utf8', timeout: 900_000 } as const;
    const { status, stdout, stderr } = spawnSync(
      'npm',
      ['run', 'docs', '--', '--out', out, '--base', '/vigie/'],
      options,
    );
    expect(status, `${stdout}${stderr}`).toBe(0);
    for (const page of readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))) {
      expect(existsSync(join(out, 'docs', page.replace('.md', '.html'))), page).toBe(true);
    }
    const front = readFileSync(join(out, 'index.html'), 'utf8');
    expect(front).toContain('<h1 id="vigie"');
    expect(front).toContain('href="/vigie/docs/configuration.html"');
    expect(readFileSync(join(out, 'protocol/generated/vigie.cddl'), 'utf8')).toContain('=');
    for (const path of Object.keys(manifest.exports).filter((one) => one !== './package.json')) {
      const name = path === '.' ? 'index' : path.slice(2);
      expect(existsSync(join(out, 'api', name, 'index.html')), path).toBe(true);
    }
    const created = readFileSync(join(out, 'api/index/functions/createAgent.html'), 'utf8');
    expect(created).toContain('createAgent');
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}, 900_000);
