import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'vigie-registry-'));
const registry = fileURLToPath(new URL('../../../scripts/package/registry.ts', import.meta.url));
const asked: string[] = [];
let tarball: Buffer;
let integrity: string;

/** A registry with one package that answers like npm's. */
const server = createServer(({ url = '' }, response) => {
  asked.push(url);
  if (url.endsWith('.tgz')) {
    response.end(tarball);
    return;
  }
  const dist = { tarball: `${address()}/probe.tgz`, integrity };
  const version = { name: 'probe', version: '1.0.0', dist };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ name: 'probe', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }));
});

function address(): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  mkdirSync(join(folder, 'package'));
  writeFileSync(join(folder, 'package/package.json'), '{ "name": "probe", "version": "1.0.0" }');
  execFileSync('tar', ['-czf', 'probe.tgz', 'package'], { cwd: folder });
  tarball = readFileSync(join(folder, 'probe.tgz'));
  integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Fetches in a separate process, because this one serves. */
async function fetchOnce(hash: string, cache: string): Promise<string> {
  const code = `import { fetchOnce } from ${JSON.stringify(registry)};
process.stdout.write(fetchOnce('probe@1.0.0', ${JSON.stringify(hash)}));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    env: {
      ...process.env,
      XDG_CACHE_HOME: join(folder, cache),
      npm_config_registry: address(),
      npm_config_cache: join(folder, `${cache}-npm`),
    },
  });
  return stdout;
}

test('a package is fetched once and then used from the cache', async () => {
  const place = await fetchOnce(integrity, 'kept');
  expect(readFileSync(join(place, 'package.json'), 'utf8')).toContain('"probe"');
  const first = asked.length;
  expect(first).toBeGreaterThan(0);
  expect(await fetchOnce(integrity, 'kept')).toBe(place);
  expect(asked).toHaveLength(first);
});

test('a package with a hash other than the pinned one is refused and not cached', async () => {
  await expect(fetchOnce('sha512-other', 'refused')).rejects.toThrow('probe@1.0.0 is not what it is to be');
  expect(readdirSync(join(folder, 'refused/vigie/packages'))).toEqual([]);
});
