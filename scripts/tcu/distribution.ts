/** Debian packages for another architecture, unpacked into a folder without a change to this machine's own apt. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Platform } from './platforms.ts';

/** Folder in which downloads are cached. */
export const cache: string = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'vigie', 'tcu');

/**
 * Programs on the unit in addition to the agent: a shell, programs for CAN and ISO-TP, a broker, and libraries for
 * Node.
 */
const programs = ['busybox-static', 'can-utils', 'mosquitto', 'libstdc++6', 'libatomic1'];

export interface LinuxDistribution {
  /** Root folder of a file system that contains these programs. */
  readonly root: string;
  /** Folder with `boot` and `lib/modules` of the kernel, and the kernel's version. */
  readonly kernel: string;
  readonly version: string;
}

/**
 * Returns the system for a platform. It is downloaded the first time.
 * @throws Error with apt's message if the system is unavailable
 */
export function distributionFor({ target, kernel }: Platform): LinuxDistribution {
  const folder = join(cache, target.debian);
  if (!existsSync(folder)) fetchInto(folder, target.debian, kernel);
  const [version] = readdirSync(join(folder, 'kernel/lib/modules'));
  if (version === undefined) throw new Error(`${folder} holds no kernel: remove it, and it is fetched again`);
  return { root: join(folder, 'root'), kernel: join(folder, 'kernel'), version };
}

function fetchInto(folder: string, architecture: string, kernel: string): void {
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, 'fetching-'));
  try {
    const archives = join(scratch, 'cache/archives');
    for (const place of ['lists/partial', 'cache/archives/partial'])
      mkdirSync(join(scratch, place), { recursive: true });
    const settings = join(scratch, 'apt.conf');
    writeFileSync(
      settings,
      `APT::Architecture "${architecture}";
APT::Architectures { "${architecture}"; };
APT::Sandbox::User "root";
Acquire::Retries "3";
Dir::State::Lists "${scratch}/lists";
Dir::State::Status "/dev/null";
Dir::Cache "${scratch}/cache";
`,
    );
    const env = { ...process.env, APT_CONFIG: settings, DEBIAN_FRONTEND: 'noninteractive' };
    const run = (program: string, ...args: string[]): string =>
      execFileSync(program, args, { cwd: archives, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    try {
      run('apt-get', '-qq', 'update');
    } catch (error) {
      // While a mirror is being updated, it lacks some lists. If a needed list is missing, the next command reports an
      // error.
      console.error((error as Error).message);
    }
    run('apt-get', '-qq', '--yes', '--no-install-recommends', '--download-only', 'install', ...programs);
    const image = /Depends: (linux-image-\S+)/.exec(run('apt-cache', 'depends', kernel))?.[1];
    if (image === undefined) throw new Error(`${kernel} names no kernel`);
    run('apt-get', '-qq', 'download', image);
    for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb'))) {
      run('dpkg-deb', '-x', name, join(scratch, name.startsWith('linux-image') ? 'kernel' : 'root'));
    }
    const [version = ''] = readdirSync(join(scratch, 'kernel/lib/modules'));
    run('depmod', '-b', join(scratch, 'kernel'), version);
    for (const place of ['lists', 'cache']) rmSync(join(scratch, place), { recursive: true });
    if (!existsSync(folder)) renameSync(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
