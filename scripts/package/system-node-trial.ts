/**
 * `npm run test:system-node`: builds the script package for armhf and runs it with the Node of Debian 13, emulated.
 * Needs root, debootstrap, qemu-user-static and, the first time, a Debian mirror. `npm run test:package` runs this
 * test, too.
 */
import assert from 'node:assert/strict';
import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cache } from '../tcu/distribution.ts';
import { makeScriptPackage, packageVersion } from './deb.ts';
import { PAGES } from './pages.ts';
import { SBOM_FILE } from './sbom.ts';
import { targetNamed } from './targets.ts';

const target = targetNamed('armhf');
/** Debian 13, the first release whose Node can run the program. */
const RELEASE = 'trixie';
const MIRROR = process.env['DEBIAN_MIRROR'] ?? 'http://deb.debian.org/debian';

/**
 * Tests the package `file` in a copy of Debian 13 in the empty folder `scratch`. @throws Error that describes the
 * failure
 */
export function tryWithSystemNode(file: string, scratch: string): void {
  const root = join(scratch, 'root');
  execFileSync('cp', ['-a', debianWithNode(), root]);
  execFileSync('dpkg-deb', ['--extract', file, root]);
  const run = (...args: string[]): SpawnSyncReturns<string> => {
    const program = ['--disallow-code-generation-from-strings', join(root, 'usr/lib/vigie/vigie.cjs')];
    const command = ['-L', root, join(root, 'usr/bin/node'), ...program, ...args];
    return spawnSync(target.emulator, command, { encoding: 'utf8', cwd: scratch });
  };
  const { stdout, stderr } = run('--version');
  const [version, node] = stdout.split('\n');
  assert.equal(version, packageVersion('executable'), stderr);
  assert.match(node ?? '', /^Node 20\.(19|[2-9]\d)\./);
  assert.equal(run('--sbom').stdout, readFileSync(join(root, PAGES, SBOM_FILE), 'utf8'));
  const checked = run('check', '--profile', 'bench');
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
  // Error of the kernel, as reported by the machine code for CAN: the emulator does not support CAN.
  assert.match(run('scan', 'can0').stderr, /this kernel has no CAN.*EAFNOSUPPORT/);
  assert.match(run('hub').stderr, /needs SQLite, which Node 20\.\d+\.\d+ does not have/);
}

/** Returns the folder of a minimal Debian 13 with its Node. It is shared: copy it, and leave the original unchanged. */
function debianWithNode(): string {
  const folder = join(cache, `${RELEASE}+nodejs+${target.debian}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, 'fetching-'));
  try {
    const root = join(scratch, 'system');
    const options = ['--foreign', '--variant=minbase', `--arch=${target.debian}`, '--include=nodejs'];
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
    execFileSync('debootstrap', [...options, RELEASE, root, MIRROR], { stdio: ['ignore', 'ignore', 'inherit'], env });
    // Packages are unpacked and not installed: their scripts would take minutes under emulation.
    const archives = join(root, 'var/cache/apt/archives');
    for (const name of readdirSync(archives).filter((one) => one.endsWith('.deb'))) {
      execFileSync('dpkg-deb', ['--extract', join(archives, name), root]);
    }
    rmSync(archives, { recursive: true });
    if (!existsSync(folder)) renameSync(root, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const scratch = mkdtempSync(join(tmpdir(), 'vigie-system-node-'));
  try {
    const file = join(scratch, `vigie_${packageVersion('script')}_${target.debian}.deb`);
    await makeScriptPackage(target, file, 'quick');
    tryWithSystemNode(file, scratch);
    console.log('1 passed, 0 failed, 0 skipped');
  } catch (error) {
    console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
