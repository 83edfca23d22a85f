/**
 * `npm run test:can [SECONDS]`: SocketCAN against a real kernel. Starts Debian's user-mode-linux, which is a kernel with
 * CAN that runs as a process, on a read-only view of this machine's files, and runs the checks in it. SECONDS is how
 * long the load check lasts, 5 when not given. Its last line is `N passed, N failed, N skipped`; the exit status is 0
 * when none failed. As root on Debian it installs what is missing; elsewhere it says what that is and fails.
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

/** The kernel's own time included, milliseconds; beside what the load check lasts. */
const LONGEST = 170_000;

const seconds = Number(process.argv[2] ?? 5);
if (!Number.isFinite(seconds) || seconds <= 0) fail(`${process.argv[2]} is no number of seconds`);
install();
process.exitCode = await boot();

function fail(reason: string): never {
  console.error(reason);
  console.log('0 passed, 1 failed, 0 skipped');
  process.exit(1);
}

function missing(): string[] {
  return packages.filter(([program]) => !existsSync(program) && !existsSync(`/usr${program}`)).map(([, name]) => name);
}

function install(): void {
  if (missing().length === 0) return;
  if (process.arch !== 'x64') fail(`user-mode-linux is for x86_64, and this machine is ${process.arch}`);
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('apt-get', ['-qq', 'update'], { stdio: 'inherit', env });
    const names = ['-qq', 'install', '--yes', '--no-install-recommends', ...missing()];
    spawnSync('apt-get', names, { stdio: ['ignore', 'ignore', 'inherit'], env });
  }
  const rest = missing();
  if (rest.length > 0) fail(`cannot run without the Debian packages ${rest.join(', ')}: apt-get install them as root`);
}

/** Runs the checks in the kernel and shows what they print. Gives the exit status. */
async function boot(): Promise<number> {
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
      `VIGIE_SECONDS=${seconds}`,
    ],
    // A group of its own: the kernel is several processes, which must end together.
    { stdio: ['ignore', 'pipe', 'ignore'], detached: true, env: { ...process.env, TMPDIR: directory } },
  );
  let total: RegExpExecArray | undefined;
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
    LONGEST + seconds * 1000,
  );
  process.once('SIGINT', end);
  try {
    const closed = new Promise<void>((resolve, reject) => {
      kernel.once('error', reject);
      kernel.once('close', () => resolve());
    });
    createInterface({ input: kernel.stdout }).on('line', (written) => {
      const line = written.trimEnd();
      total = /^(\d+) passed, (\d+) failed, (\d+) skipped$/.exec(line) ?? total;
      // The last line is ours, whatever the kernel says when it goes down.
      if (line !== total?.[0]) console.log(line);
    });
    await closed;
  } finally {
    clearTimeout(bound);
    process.off('SIGINT', end);
    end();
    rmSync(directory, { recursive: true, force: true });
  }
  if (total === undefined) fail('the kernel ended before the checks did');
  console.log(total[0]);
  return total[2] === '0' ? 0 : 1;
}
