/**
 * `npm run test:package [-- [arm64] [armv7] [x64]]`: tests the output of `npm run package`, building it if necessary.
 * Each executable runs the bench, emulated if the architecture differs, and receives commands from a `vigie` of this
 * machine. A rebuild of the executable for this machine's architecture has the same bytes; its package is installed
 * into a fresh minimal Debian, run there, upgraded, and purged without leftovers. The three shells complete its command
 * line. For armv7 the script package also runs with the Node of Debian 13. Without arguments the npm package is tested
 * too (library-trial.ts). Lintian must accept every package. The last line is `N passed, N failed, N skipped`; the exit
 * status is 0 if none failed. Needs root and Debian; missing Debian packages are installed.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commandLine } from '../../commands/vigie.ts';
import { vigie } from '../../test/rig/bench.ts';
import { bootstrapped } from '../bootstrap.ts';
import { tryContainer } from './container-trial.ts';
import { makePackage, makeScriptPackage } from './deb.ts';
import { makeExecutable } from './executable.ts';
import { libraryChecks } from './library-trial.ts';
import { shells } from './shells.ts';
import { tryWithSystemNode } from './system-node-trial.ts';
import { type PackageTarget, runner, targetNamed, targets } from './targets.ts';

const VIN = 'VF3VGEBENCH000001';
const root = fileURLToPath(new URL('../..', import.meta.url));
const began = performance.now();
const { positionals } = parseArgs({ allowPositionals: true });
const wanted = positionals.length === 0 ? targets : positionals.map(targetNamed);
const scratch = mkdtempSync(join(tmpdir(), 'vigie-trial-'));
// Users without privileges, such as that of the database, have folders in it.
chmodSync(scratch, 0o755);
const containerTools = ['buildah', 'docker-compose', 'mosquitto', 'postgresql', 'curl', 'iproute2'];
const tools = ['debootstrap', 'lintian', 'bash', 'zsh', 'fish', ...containerTools];
const packages: string[] = [];
let [passed, failed] = [0, 0];

/** Commands for the fresh system, one per line. */
const trial = `set -e
dpkg -i /tmp/vigie.deb
test "$(stat -c '%G %a' /etc/vigie)" = 'vigie 750'
id vigie >/dev/null
vigie --version
vigie --sbom | cmp - /usr/share/doc/vigie/sbom.cdx.json
for profile in bench generic-obd2 psa-aee2010; do vigie check --profile $profile; done
status=0; vigie check -c /etc/vigie/vigie.yaml || status=$?; test $status -eq 2
install -d -m 700 /etc/credstore
echo secret | install -m 600 /dev/stdin /etc/credstore/vigie.password
vigie check -c /etc/vigie/vigie.yaml
setpriv --reuid vigie --regid vigie --clear-groups env HOME=/tmp vigie bench --port 0 \\
  --data /var/lib/vigie/bench >/tmp/bench.out &
timeout 300 sh -c "until grep -q '^published .*/up/status' /tmp/bench.out; do sleep 0.1; done"
kill -TERM $!
wait $!
for profile in /usr/share/doc/vigie/examples/profiles/*; do vigie check --profile $profile; done

echo '# of this car' >>/etc/vigie/vigie.yaml
echo record >/var/lib/vigie/kept
dpkg-deb --raw-extract /tmp/vigie.deb /tmp/newer
sed -i 's/^Version: .*/&+1/' /tmp/newer/DEBIAN/control
echo '# of the newer package' >>/tmp/newer/etc/vigie/vigie.yaml
dpkg-deb --root-owner-group -Zgzip -z1 --build /tmp/newer /tmp/newer.deb
dpkg --force-confdef --force-confold -i /tmp/newer.deb
grep -q '^# of this car$' /etc/vigie/vigie.yaml
test "$(cat /var/lib/vigie/kept)" = record

dpkg --purge vigie
rm -r /etc/credstore
test ! -e /var/lib/vigie
test ! -e /etc/vigie
test -z "$(find / -xdev -name '*vigie*' -not -path '/tmp/*' -not -path '/proc/*' -not -path '/var/log/*')"
`;

try {
  const foreign = wanted.filter(({ arch }) => arch !== process.arch).flatMap(({ libraries }) => libraries);
  const installing = spawnSync('sh', [join(root, 'scripts/package/install.sh'), ...tools, ...foreign], {
    stdio: 'inherit',
  });
  assert.equal(installing.status, 0, 'what it needs of Debian is not there');
  for (const target of wanted) {
    const executable = join(scratch, `vigie-linux-${target.name}`);
    await makeExecutable(target, executable);
    await check(`${target.name}: runs the bench, is commanded and shows its interface`, () =>
      bench(target, executable),
    );
    const debian = join(scratch, `vigie_${target.debian}.deb`);
    await makePackage(target, { path: executable, kind: 'executable' }, debian, 'quick');
    packages.push(debian);
    if (target.debian === 'armhf') {
      const alone = join(scratch, `vigie_node_${target.debian}.deb`);
      await makeScriptPackage(target, alone, 'quick');
      packages.push(alone);
      await check(`${target.name}: the program alone runs with the Node of Debian 13`, async () => {
        const folder = join(scratch, 'system-node');
        mkdirSync(folder);
        tryWithSystemNode(alone, folder);
      });
    }
    if (target.arch !== process.arch) continue;
    await check(`${target.name}: is made of the same bytes again`, async () => {
      const again = join(scratch, 'again');
      await makeExecutable(target, again);
      assert.ok(readFileSync(again).equals(readFileSync(executable)));
      rmSync(again);
    });
    await check(
      `${target.name}: is installed into a minimal Debian, runs, is upgraded, and is purged without a trace`,
      () => installed(debian),
    );
    await check(`${target.name}: a container of it serves a car through its own broker and database`, async () => {
      const folder = join(scratch, 'container');
      mkdirSync(folder);
      tryContainer(debian, folder);
    });
  }
  if (positionals.length === 0) {
    const folder = join(scratch, 'library');
    mkdirSync(folder);
    for (const { sentence, act } of libraryChecks(folder)) await check(sentence, act);
  }
  await check('lintian finds no error and no warning in the packages', async () => {
    const args = ['--allow-root', '--no-tag-display-limit', '--fail-on', 'error,warning', ...packages];
    const { status, stdout, stderr } = spawnSync('lintian', args, { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });
  for (const { shell, complete } of shells(scratch, await commandLine())) {
    await check(`${shell} completes commands, options and their values`, async () => {
      assert.deepEqual(complete('vigie sca'), ['scan']);
      assert.deepEqual(complete('vigie check --prof'), ['--profile']);
      assert.deepEqual(complete('vigie check --format '), ['ndjson', 'text']);
      assert.deepEqual(complete('vigie keys ma'), ['make']);
    });
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed === 0 ? 0 : 1;

async function bench(target: PackageTarget, executable: string): Promise<void> {
  const data = join(scratch, `data-${target.name}`);
  const [program, ...args] = runner(target, executable) as [string, ...string[]];
  const options = ['--scenario', 'parked', '--port', '0', '--http', '0', '--data', data];
  const child = spawn(program, [...args, 'bench', ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let address: string | undefined;
      createInterface({ input: child.stdout }).on('line', (line) => {
        address ??= /^The HTTP interface: (.*)\/docs for people/.exec(line)?.[1];
        if (address !== undefined && /^published .*\/up\/status/.test(line)) resolve(address);
      });
      ended.then(([status]) => reject(new Error(`the bench ended with ${status}`)), reject);
    });
    await documents(url);
    for (const word of ['lock', 'unlock']) {
      const { status, stdout, stderr } = await vigie(
        'send',
        VIN,
        'doors',
        word,
        '--data',
        data,
        '--signing-key',
        'bench',
        '--format',
        'ndjson',
      );
      assert.equal(status, 0, stdout + stderr);
    }
  } finally {
    child.kill('SIGINT');
  }
  const [status] = await ended;
  assert.equal(status, 0, 'it does not end in order');
}

/** Verifies that the executable serves the HTTP API document and the page unchanged. */
async function documents(url: string): Promise<void> {
  const served = async (path: string): Promise<Buffer> => {
    const answer = await fetch(url + path);
    assert.equal(answer.status, 200, path);
    return Buffer.from(await answer.arrayBuffer());
  };
  const openApi = readFileSync(join(root, 'protocol/generated/openapi.json'), 'utf8');
  assert.deepEqual(JSON.parse((await served('/openapi.json')).toString()), JSON.parse(openApi));
  assert.match((await served('/docs')).toString(), /swagger-ui-bundle\.js/);
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    const file = readFileSync(join(root, 'node_modules/swagger-ui-dist', name));
    assert.ok(file.equals(await served(`/docs/${name}`)), name);
  }
}

async function installed(file: string): Promise<void> {
  const system = join(scratch, 'system');
  // Keep owners, and device files as such.
  execFileSync('cp', ['-a', bootstrapped([]), system]);
  mkdirSync(join(system, 'tmp'), { recursive: true });
  copyFileSync(file, join(system, 'tmp/vigie.deb'));
  // These are separate mounts, which end with the process.
  const inside = `mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" /bin/sh -c "$1"`;
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const args = ['--mount', '--fork', '/bin/sh', '-c', inside, system, trial];
  const { status, stdout, stderr } = spawnSync('unshare', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
  assert.equal(status, 0, `${stdout}${stderr}`);
}

async function check(sentence: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
    passed++;
    console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ok      ${sentence}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${sentence}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}
