/**
 * `npm run test:bare`: runs the two commands of the README in a Debian with only git, certificates, Node and npm, as an
 * ordinary user, in a clone of HEAD without neighbouring files and with no network except the npm registry.
 * `npm run test:bare -- programs`: that Debian also has python3, gcc, socat and pseudo-terminals, and runs only the
 * test files that need a program. Names of test files as further arguments replace this selection.
 *
 * Node and npm are those of this machine. Needs root and Debian; missing packages are installed. TEST_OUTCOMES receives
 * the outcome of each test file, as for `npm test`. The last line is `N passed, N failed, N skipped`; the exit status
 * is 0 if none failed.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, sep } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bootstrapped } from '../bootstrap.ts';
import { filesThatAsk } from '../test-files.ts';
import { serveRegistry } from './registry.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const USER_ID = 1000;
const HOME = 'home/user';
/** Path in the Debian of the files that the ordinary user needs from this script, outside the user's home directory. */
const TOOLS = 'opt/bare';
/** Programs that `programs` installs, by the names that tests use, which are also the names of the Debian packages. */
const PROGRAMS = ['python3', 'gcc', 'socat'];
const TERMINALS = '/dev/ptmx';

const given = process.argv.slice(2);
const withPrograms = given[0] === 'programs';
const files = withPrograms ? given.slice(1) : given;
const unknown = files.find((file) => !existsSync(join(root, file)));
if (unknown !== undefined) {
  console.error(`${unknown} is no file\nusage: npm run test:bare [-- [programs] FILE…]`);
  process.exit(2);
}
const installing = spawnSync('sh', [join(root, 'scripts/package/install.sh'), 'debootstrap', 'iproute2'], {
  stdio: 'inherit',
});
if (installing.status !== 0) process.exit(1);

const scratch = mkdtempSync(join(tmpdir(), 'vigie-bare-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
let machine: ChildProcess | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    if (machine === undefined) process.exit(1);
    machine.kill('SIGKILL');
  });
}
const system = join(scratch, 'system');
const cached = bootstrapped(['git', 'ca-certificates', ...(withPrograms ? PROGRAMS : [])]);
execFileSync('cp', ['-a', cached, system]);
copyNode(system);
makeUser(system);
const registry = await serveRegistry(
  join(system, TOOLS, 'registry.sock'),
  execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: tmpdir() }).trim(),
);
execFileSync('chown', ['-R', `${USER_ID}:${USER_ID}`, join(system, HOME), join(system, TOOLS)]);
process.exitCode = await enter(words());
registry.close();
copyOutcomes();

/**
 * Returns the arguments of inside.mjs: the command that starts a bench, or '', the test command, and the latter's
 * arguments.
 */
function words(): readonly string[] {
  const [bench, tests] = commandsOfReadme();
  if (!withPrograms && files.length === 0) return [bench, tests];
  return [withPrograms ? '' : bench, `${tests} -- "$@"`, ...(files.length > 0 ? files : filesThatAsk(root))];
}

/** @returns the exit status of inside.mjs, or 1 if a test was skipped although its requirement is installed */
async function enter(args: readonly string[]): Promise<number> {
  const terminals = [
    'mkdir "$0/dev/pts" && mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$0/dev/pts"',
    `ln -s pts/ptmx "$0${TERMINALS}"`,
  ];
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
    ...(withPrograms ? terminals : []),
    `exec chroot --userspec=${USER_ID}:${USER_ID} "$0" /usr/bin/env -i HOME=/${HOME} PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 node /${TOOLS}/inside.mjs "$@"`,
  ].join(' && ');
  // All mounts and processes end with the first process, inside.mjs, which ends when its standard input closes. So
  // nothing remains even if this process is killed.
  const child = spawn(
    'unshare',
    ['--mount', '--net', '--pid', '--ipc', '--fork', '--kill-child', 'sh', '-c', steps, system, ...args],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  machine = child;
  const closed = once(child, 'close');
  const lacking: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const [, name = ''] = /^not tested, (\S+) (?:is not installed|cannot be opened)/.exec(line) ?? [];
    if (withPrograms && [...PROGRAMS, TERMINALS].includes(name)) lacking.push(name);
    console.log(line);
  }
  const [status] = await closed;
  for (const name of lacking) console.error(`tests were skipped for want of ${name}, which this system must have`);
  return status === 0 && lacking.length > 0 ? 1 : (status ?? 1);
}

/** Returns the two commands of the README unchanged, without the comments after them. */
function commandsOfReadme(): readonly [bench: string, tests: string] {
  const found = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^ {4}(npm ci && npm \w+) +#/gm)];
  const [bench, tests, ...more] = found.map(([, command]) => command);
  if (bench === undefined || tests === undefined || more.length > 0) {
    throw new Error('README.md must have two commands that begin with npm ci');
  }
  return [bench, tests];
}

/** Creates an ordinary user with a clone of the project in an otherwise empty home, and a hosts file with localhost. */
function makeUser(system: string): void {
  const home = join(system, HOME);
  mkdirSync(home, { recursive: true });
  appendFileSync(join(system, 'etc/passwd'), `user:x:${USER_ID}:${USER_ID}::/${HOME}:/bin/sh\n`);
  appendFileSync(join(system, 'etc/group'), `user:x:${USER_ID}:\n`);
  writeFileSync(join(system, 'etc/hosts'), '127.0.0.1 localhost\n');
  execFileSync('git', ['clone', '--quiet', root, join(home, 'vigie')]);
  mkdirSync(join(system, TOOLS));
  copyFileSync(join(import.meta.dirname, 'inside.mjs'), join(system, TOOLS, 'inside.mjs'));
}

/** Appends the outcomes in the Debian to the file of this run, if its tests have started. */
function copyOutcomes(): void {
  const [to, from] = [process.env['TEST_OUTCOMES'], join(system, TOOLS, 'outcomes')];
  if (to !== undefined && existsSync(from)) appendFileSync(to, readFileSync(from));
}

/** Copies the machine's Node and npm, but not the project's: the README's `npm ci` must install the latter. */
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
