/** npm packages for comparisons: scripts/benchmark/peers/package.json, installed on first use. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const folder = 'scripts/benchmark/peers';

/** Installs the peers. Returns the reason if this fails. Call with the project as the current directory. */
export function installPeers(): string | undefined {
  if (existsSync(join(folder, 'node_modules'))) return undefined;
  const run = spawnSync('npm', ['install', '--prefix', folder], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (run.status === 0) return undefined;
  const said = run.stderr.split('\n').filter((line) => line.startsWith('npm error '));
  const reason = run.error?.message ?? said.map((line) => line.slice('npm error '.length)).join(' ');
  return `the packages of ${folder} could not be installed: ${reason.slice(0, 300)}`;
}

/** Returns the module of a package that {@link installPeers} installed. */
export function peer(name: string): unknown {
  return createRequire(join(process.cwd(), folder, 'package.json'))(name);
}
