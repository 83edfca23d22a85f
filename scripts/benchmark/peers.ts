/** What npm has to measure ours against: scripts/benchmark/peers/package.json, installed when it is first asked for. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const folder = 'scripts/benchmark/peers';

/** Installs them; the reason why they are not there, or undefined. Run where the project is. */
export function installPeers(): string | undefined {
  if (existsSync(join(folder, 'node_modules'))) return undefined;
  const run = spawnSync('npm', ['ci', '--prefix', folder], { encoding: 'utf8', shell: process.platform === 'win32' });
  if (run.status === 0) return undefined;
  return `the packages of ${folder} could not be installed: ${run.error?.message ?? run.stderr.trim().split('\n').at(-1)}`;
}

/** The module of a package that {@link installPeers} installed. */
export function peer(name: string): unknown {
  return createRequire(join(process.cwd(), folder, 'package.json'))(name);
}
