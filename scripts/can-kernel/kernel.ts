/**
 * A kernel with CAN where there is none: Debian's user-mode-linux, which runs as a process, on a read-only view of this
 * machine's files.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Program that shows that a package is there, and the package. */
const packages: readonly (readonly [program: string, name: string])[] = [
  ['/usr/bin/linux.uml', 'user-mode-linux'],
  ['/usr/bin/cansend', 'can-utils'],
  ['/sbin/insmod', 'kmod'],
  ['/sbin/ip', 'iproute2'],
];

/** The kernel's own time included, milliseconds; beside what is asked for, which a script may do for several readers. */
const LONGEST = 170_000;

function missing(): string[] {
  return packages.filter(([program]) => !existsSync(program) && !existsSync(`/usr${program}`)).map(([, name]) => name);
}

/** As root on Debian installs what the kernel takes. @throws Error what is missing and cannot be installed here */
export function installKernel(): void {
  if (missing().length === 0) return;
  if (process.arch !== 'x64') throw new Error(`user-mode-linux is for x86_64, and this machine is ${process.arch}`);
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('apt-get', ['-qq', 'update'], { stdio: 'inherit', env });
    const names = ['-qq', 'install', '--yes', '--no-install-recommends', ...missing()];
    spawnSync('apt-get', names, { stdio: ['ignore', 'ignore', 'inherit'], env });
  }
  const rest = missing();
  if (rest.length > 0) {
    throw new Error(`cannot run without the Debian packages ${rest.join(', ')}: apt-get install them as root`);
  }
}

/**
 * Runs a script of this folder as root in the kernel, which has no CAN interface yet.
 * @param seconds argument of the script: how long it puts a load on
 * @param take is given what it prints, line by line
 */
export async function runInKernel(script: string, seconds: number, take: (line: string) => void): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'vigie-can-'));
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const kernel = spawn(
    '/usr/bin/linux.uml',
    [
      'mem=768M',
      'root=/dev/root',
      'rootfstype=hostfs',
      'rootflags=/',
      // hostfs would write to this machine's files.
      'ro',
      'quiet',
      'panic=1',
      'con=null',
      'con0=null,fd:1',
      `uml_dir=${directory}/`,
      `init=${join(root, 'scripts/can-kernel/boot.sh')}`,
      `VIGIE_ROOT=${root}`,
      `VIGIE_NODE=${process.execPath}`,
      `VIGIE_SCRIPT=${script}`,
      `VIGIE_SECONDS=${seconds}`,
    ],
    // A group of its own: the kernel is several processes, which must end together.
    { stdio: ['ignore', 'pipe', 'ignore'], detached: true, env: { ...process.env, TMPDIR: directory } },
  );
  const end = (): void => {
    if (kernel.pid !== undefined && kernel.exitCode === null && kernel.signalCode === null) {
      process.kill(-kernel.pid, 'SIGKILL');
    }
  };
  const bound = setTimeout(
    () => {
      console.error('the kernel did not finish in time');
      end();
    },
    LONGEST + 4 * seconds * 1000,
  );
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, end);
  try {
    const closed = new Promise<void>((resolve, reject) => {
      kernel.once('error', reject);
      kernel.once('close', () => resolve());
    });
    createInterface({ input: kernel.stdout }).on('line', (written) => take(written.trimEnd()));
    await closed;
  } finally {
    clearTimeout(bound);
    for (const signal of signals) process.off(signal, end);
    end();
    rmSync(directory, { recursive: true, force: true });
  }
}
