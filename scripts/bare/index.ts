/**
 * `npm run test:bare [-- programs]`: types the two commands of the README in a Debian with nothing but git, certificates,
 * Node and npm, as an ordinary user, in a clone with nothing beside it and with no network but the npm registry. With
 * `programs` that Debian also has python3, gcc and socat, and runs only the test files that ask for a program.
 * The Node and npm are those of this machine. Needs root and Debian; what is missing is installed. The last line is
 * `N passed, N failed, N skipped`; the exit status is 0 if none failed.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bootstrapped } from '../bootstrap.ts';
import { serveRegistry } from './registry.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const USER_ID = 1000;
const HOME = 'home/user';

const withPrograms = process.argv[2] === 'programs';
if (process.argv.length > 3 || (process.argv[2] !== undefined && !withPrograms)) {
  console.error('usage: npm run test:bare [-- programs]');
  process.exit(2);
}
const installing = spawnSync('sh', [join(root, 'scripts/package/install.sh'), 'debootstrap', 'iproute2'], {
  stdio: 'inherit',
});
if (installing.status !== 0) process.exit(1);

const scratch = mkdtempSync(join(tmpdir(), 'vigie-bare-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const system = join(scratch, 'system');
execFileSync('cp', [
  '-a',
  bootstrapped(['git', 'ca-certificates', ...(withPrograms ? ['python3', 'gcc', 'socat'] : [])]),
  system,
]);
copyNode(system);
const home = join(system, HOME);
mkdirSync(home, { recursive: true });
execFileSync('git', ['clone', '--quiet', root, join(home, 'vigie')]);
copyFileSync(join(import.meta.dirname, 'inside.mjs'), join(home, 'inside.mjs'));
const registry = await serveRegistry(
  join(home, 'registry.sock'),
  execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: tmpdir() }).trim(),
);
execFileSync('chown', ['-R', `${USER_ID}:${USER_ID}`, home]);
process.exitCode = await enter();
registry.close();

/** @returns the exit status of inside.mjs */
async function enter(): Promise<number> {
  // All mounts, and all processes, end with the first process.
  const steps = [
    'ip link set lo up',
    'mount -t proc proc "$0/proc"',
    'mount -t tmpfs -o mode=1777 tmp "$0/tmp"',
    'mount -t tmpfs dev "$0/dev"',
    ...['null', 'zero', 'full', 'random', 'urandom', 'tty'].map(
      (name) => `touch "$0/dev/${name}" && mount --bind /dev/${name} "$0/dev/${name}"`,
    ),
    'mkdir "$0/dev/shm" && mount -t tmpfs -o mode=1777 shm "$0/dev/shm"',
    'ln -s /proc/self/fd "$0/dev/fd"',
    `exec chroot --userspec=${USER_ID}:${USER_ID} "$0" /usr/bin/env -i HOME=/${HOME} PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 node /${HOME}/inside.mjs "$@"`,
  ].join(' && ');
  const words = withPrograms ? ['files', ...filesThatAsk()] : ['commands', ...commandsOfReadme()];
  const child = spawn(
    'unshare',
    ['--mount', '--net', '--pid', '--ipc', '--fork', '--kill-child', 'sh', '-c', steps, system, ...words],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const [status] = await once(child, 'exit');
  return typeof status === 'number' ? status : 1;
}

/** The two commands as they stand, without their comments. */
function commandsOfReadme(): readonly string[] {
  const commands = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^ {4}(npm ci && npm \w+) +#/gm)];
  if (commands.length !== 2) throw new Error('README.md has not two commands that begin with npm ci');
  return commands.map(([, command = '']) => command);
}

/** Test files that name a need of theirs (test/needs.ts, test/rig/peers.ts), but those that CI runs apart. */
function filesThatAsk(): readonly string[] {
  const files = execFileSync(
    'git',
    ['grep', '--name-only', '-E', '(describe|test)(Peers?|Needing)\\(', '--', 'test/*.test.ts'],
    { cwd: root, encoding: 'utf8' },
  );
  return files
    .trim()
    .split('\n')
    .filter((name) => !/\.(engine|browser|long)\.test\.ts$/.test(name));
}

/** The Node and npm of the machine, which `npm ci` of the README finds, not those of the project. */
function copyNode(system: string): void {
  const folders = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes(`${sep}node_modules${sep}`));
  const found = (name: string): string => {
    const folder = folders.find((one) => existsSync(join(one, name)));
    if (folder === undefined) throw new Error(`${name} is not on the path`);
    return realpathSync(join(folder, name));
  };
  const npm = dirname(dirname(found('npm')));
  const library = join(system, 'usr/local/lib/node_modules/npm');
  mkdirSync(dirname(library), { recursive: true });
  copyFileSync(found('node'), join(system, 'usr/local/bin/node'));
  cpSync(npm, library, { recursive: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(system, 'usr/local/bin', name));
}
