/** Small Debian systems of this machine's architecture, as debootstrap makes them; each is made once and kept. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from './tcu/distribution.ts';

/** The release of the kernels, of the emulated units and of the systems that tests run in. */
const RELEASE = 'bookworm';

/**
 * The folder of a minimal system with these packages. Copy it: it is shared, and must stay unchanged.
 * @throws Error with what debootstrap says
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
    // debootstrap mounts /proc in the new system: in a name space of its own, so that the mount ends with it.
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
