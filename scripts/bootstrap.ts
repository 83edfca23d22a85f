/** Small Debian systems for this machine's architecture, which debootstrap makes. Each is made once and cached. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from './tcu/distribution.ts';

/** Debian release of the kernels, of the emulated units, and of the systems in which tests run. */
const RELEASE = 'bookworm';

/**
 * Returns the folder of a minimal system with these packages. It is shared: copy it, and leave the original unchanged.
 * @throws Error with debootstrap's message
 */
export function bootstrapped(programs: readonly string[]): string {
  const folder = join(cache, [RELEASE, ...programs].join('+'));
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, 'fetching-'));
  try {
    const included = programs.length === 0 ? [] : [`--include=${programs.join(',')}`];
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
    const words = ['--variant=minbase', ...included, RELEASE, join(scratch, 'system')];
    // debootstrap mounts /proc in the new system. This uses a separate namespace, so that the mount ends with the
    // process.
    execFileSync('unshare', ['--mount', 'debootstrap', ...words], { stdio: ['ignore', 'ignore', 'pipe'], env });
    for (const place of ['var/cache/apt', 'var/lib/apt/lists']) {
      rmSync(join(scratch, 'system', place), { recursive: true, force: true });
    }
    if (!existsSync(folder)) renameSync(join(scratch, 'system'), folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}
