import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { PackageTarget } from './targets.ts';

/**
 * Installs the tools that build programs for architectures other than this machine's (install.sh).
 * @throws Error if a tool is missing and cannot be installed here. install.sh has then printed its name.
 */
export function installFor(wanted: readonly PackageTarget[]): void {
  const foreign = wanted.filter(({ arch }) => arch !== process.arch);
  if (foreign.length === 0) return;
  const script = fileURLToPath(new URL('install.sh', import.meta.url));
  const names = foreign.flatMap(({ libraries }) => libraries);
  const { status } = spawnSync('sh', [script, ...names], { stdio: 'inherit' });
  if (status !== 0) throw new Error('what it needs of Debian is not there');
}
