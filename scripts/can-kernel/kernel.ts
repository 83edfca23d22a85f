/**
 * Runs a kernel with CAN on machines whose kernel has none: Debian's kernel in an emulated machine, which can read this
 * machine's files but not write them. Emulation needs about ten times the processor time, but works wherever its
 * package is available.
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

/** Timeout in ms of a run including the boot, in addition to the time that the requested load takes. */
const LONGEST = 600_000;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Modules that {@link file://./first.sh} loads. */
const modules = ['virtio_mmio', 'virtio_pci', '9pnet_virtio', '9p', 'can', 'can-raw', 'can-dev', 'vcan', 'sch_tbf'];

/** Installs the packages that the kernel needs, as root on Debian. @throws Error if that is not possible here */
export function installKernel(): void {
  const names = [platformNamed(hostTarget().name).emulatedBy, 'can-utils', 'cpio', 'iproute2', 'kmod'];
  const { status } = spawnSync('sh', [join(root, 'scripts/package/install.sh'), ...names], { stdio: 'inherit' });
  if (status !== 0) throw new Error('what it needs of Debian is not there');
}

/**
 * Compiles this folder's programs into `folder`. To run sources, Node strips types with WebAssembly, which QEMU 7.2
 * sometimes executes incorrectly: one start in ten ended with SIGSEGV.
 */
async function compile(folder: string): Promise<void> {
  const entryPoints = ['checks.ts', 'measure.ts', 'left-open.ts'].map((name) => join(import.meta.dirname, name));
  await build({ ...bundling, entryPoints, outdir: folder });
  // Packages that are not bundled are found through this link.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

/**
 * Runs a program of this folder as root in the kernel, which has no CAN interface at first.
 * @param program file name without its extension
 * @param seconds argument of the program: duration of the load in s
 * @param take called with each line of output
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
