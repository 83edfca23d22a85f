/**
 * A kernel with CAN where there is none: Debian's, in an emulated machine that sees this machine's files and cannot
 * change them. The emulation takes some ten times the processor time, but runs wherever its package does.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundling } from '../bundle.ts';
import { hostTarget } from '../package/targets.ts';
import { makeMemoryDisk } from '../tcu/disks.ts';
import { distributionFor } from '../tcu/distribution.ts';
import { switchOn } from '../tcu/emulator.ts';
import { platformNamed } from '../tcu/platforms.ts';

/** Time with that of the kernel itself, milliseconds, in addition to the requested time of the script. */
const LONGEST = 600_000;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Modules that {@link file://./first.sh} loads. */
const modules = ['virtio_mmio', 'virtio_pci', '9pnet_virtio', '9p', 'can', 'can-raw', 'can-dev', 'vcan', 'sch_tbf'];

/** As root on Debian installs what the kernel takes. @throws Error when that cannot be installed here */
export function installKernel(): void {
  const names = [platformNamed(hostTarget().name).emulatedBy, 'can-utils', 'cpio', 'iproute2', 'kmod'];
  const { status } = spawnSync('sh', [join(root, 'scripts/package/install.sh'), ...names], { stdio: 'inherit' });
  if (status !== 0) throw new Error('what it needs of Debian is not there');
}

/**
 * Compiles this folder's programs into `folder`. Node strips types in WebAssembly, and QEMU 7.2 now and then runs
 * WebAssembly wrongly: one start in ten from the sources ended with SIGSEGV.
 */
async function compile(folder: string): Promise<void> {
  const entryPoints = ['checks.ts', 'measure.ts', 'left-open.ts'].map((name) => join(import.meta.dirname, name));
  await build({ ...bundling, entryPoints, outdir: folder });
  // For packages that stay outside of a bundle.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

/**
 * Runs a program of this folder as root in the kernel, which has no CAN interface yet.
 * @param program its name without extension
 * @param seconds argument of the script: how long it puts a load on
 * @param take is given what it prints, line by line
 */
export async function runInKernel(program: string, seconds: number, take: (line: string) => void): Promise<void> {
  const platform = platformNamed(hostTarget().name);
  const distribution = distributionFor(platform);
  const folder = mkdtempSync(join(tmpdir(), 'vigie-can-'));
  const memoryDisk = join(folder, 'first.cpio');
  await compile(folder);
  makeMemoryDisk(folder, distribution, memoryDisk, { init: join(import.meta.dirname, 'first.sh'), modules });
  const told = { ROOT: root, NODE: process.execPath, PROGRAM: join(folder, `${program}.mjs`), SECONDS: seconds };
  const variables = Object.entries(told).map(([name, value]) => `VIGIE_${name}=${value}`);
  const machine = switchOn(platform, {
    kernel: join(distribution.kernel, 'boot', `vmlinuz-${distribution.version}`),
    memoryDisk,
    told: variables.join(' '),
    devices: [
      '-m',
      '1024',
      '-fsdev',
      'local,id=host,path=/,security_model=none,readonly=on,multidevs=remap',
      '-device',
      `virtio-9p-${platform.attached},fsdev=host,mount_tag=host`,
      '-nic',
      'none',
    ],
  });
  const bound = setTimeout(
    () => {
      console.error('the kernel did not finish in time');
      machine.kill('SIGKILL');
    },
    LONGEST + 4 * seconds * 1000,
  );
  try {
    const closed = new Promise<void>((resolve, reject) => {
      machine.once('error', reject);
      machine.once('close', () => resolve());
    });
    createInterface({ input: machine.stdout }).on('line', (written) => take(written.trimEnd()));
    await closed;
  } finally {
    clearTimeout(bound);
    rmSync(folder, { recursive: true, force: true });
  }
}
