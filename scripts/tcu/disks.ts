/** Disks of an emulated unit: a kernel, an initial memory disk, the system disk and an empty data disk. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LinuxDistribution } from './distribution.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const guest = join(import.meta.dirname, 'guest');

export interface Disks {
  readonly kernel: string;
  readonly memoryDisk: string;
  readonly system: string;
  readonly data: string;
  /** If true, the system may write to its disk. If omitted, the disk is read-only. */
  readonly writable?: boolean;
}

/** Kernel modules that are needed to reach the disks, and those that a unit needs later. */
export const early: readonly string[] = [
  'virtio_mmio',
  'virtio_pci',
  'virtio_blk',
  'virtio_net',
  'virtio-rng',
  'ext4',
  'crc32c_generic',
];
export const late: readonly string[] = ['can', 'can-raw', 'can-isotp', 'can-dev', 'vcan'];

/** Programs of Busybox that the unit's scripts call. */
const applets = [
  'sh',
  'mount',
  'umount',
  'findfs',
  'modprobe',
  'ip',
  'ifconfig',
  'stty',
  'sleep',
  'cat',
  'echo',
  'kill',
  'ps',
  'sync',
  'poweroff',
  'mkdir',
  'sed',
  'grep',
  'tail',
  'ls',
  'killall',
  'pidof',
  'date',
  'rm',
  'free',
  'setsid',
  'wget',
  'cmp',
];

/**
 * Creates the disks in `folder`. `car` is the folder that becomes `/opt/car`.
 * @throws Error with the message of a program that makes a file system
 */
export function makeDisks(folder: string, distribution: LinuxDistribution, executable: string, car: string): Disks {
  const { root: tree, kernel, version } = distribution;
  const disks: Disks = {
    kernel: join(kernel, 'boot', `vmlinuz-${version}`),
    memoryDisk: join(folder, 'first.cpio'),
    system: join(folder, 'system.img'),
    data: join(folder, 'data.img'),
  };
  makeMemoryDisk(folder, distribution, disks.memoryDisk);

  const system = join(folder, 'system');
  cpSync(tree, system, { recursive: true, verbatimSymlinks: true });
  for (const place of ['proc', 'sys', 'dev', 'run', 'tmp', 'data', 'etc', 'sbin']) {
    mkdirSync(join(system, place), { recursive: true });
  }
  for (const name of applets) {
    const path = join(system, 'bin', name);
    if (!existsSync(path)) symlinkSync('busybox', path);
  }
  rmSync(join(system, 'sbin/init'), { force: true });
  install(join(guest, 'init.sh'), join(system, 'sbin/init'));
  install(join(guest, 'car.sh'), join(system, 'usr/bin/car'));
  install(executable, join(system, 'usr/bin/vigie'));
  writeFileSync(join(system, 'etc/passwd'), 'root:x:0:0:root:/tmp:/bin/sh\nmosquitto:x:100:100::/tmp:/bin/false\n');
  writeFileSync(join(system, 'etc/group'), 'root:x:0:\nmosquitto:x:100:\n');
  writeFileSync(join(system, 'etc/hosts'), '127.0.0.1 localhost\n');
  cpSync(car, join(system, 'opt/car'), { recursive: true });
  copyModules(kernel, version, [...early, ...late], system);
  makeFileSystem(disks.system, 'system', '320M', system);
  makeFileSystem(disks.data, 'data', '96M');
  return disks;
}

function install(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, 0o755);
}

/** Copies modules and their dependencies, and the lists from which modprobe reads these dependencies. */
export function copyModules(kernel: string, version: string, names: readonly string[], to: string): void {
  const folder = join('lib/modules', version);
  const from = join(kernel, folder);
  const needs = new Map<string, readonly string[]>();
  for (const line of readFileSync(join(from, 'modules.dep'), 'utf8').split('\n')) {
    const [file = '', rest = ''] = line.split(':');
    needs.set(file, rest.trim().split(/\s+/).filter(Boolean));
  }
  const spelt = (name: string): string => name.replaceAll('-', '_');
  const wanted = names.map(spelt);
  for (const [file, others] of needs) {
    if (!wanted.includes(spelt(/([^/]+)\.ko/.exec(file)?.[1] ?? ''))) continue;
    for (const path of [file, ...others]) {
      mkdirSync(dirname(join(to, folder, path)), { recursive: true });
      copyFileSync(join(from, path), join(to, folder, path));
    }
  }
  for (const list of ['modules.dep', 'modules.alias', 'modules.builtin']) {
    if (existsSync(join(from, list))) copyFileSync(join(from, list), join(to, folder, list));
  }
}

export interface FirstProcess {
  /** The init script. */
  readonly init: string;
  /** Kernel modules that it loads. */
  readonly modules: readonly string[];
}

/**
 * Creates in `folder` the initial memory disk, which finds the other disks: an archive in the kernel's format
 * (Documentation/driver-api/early-userspace/buffer-format.rst).
 */
export function makeMemoryDisk(
  folder: string,
  { root: tree, kernel, version }: LinuxDistribution,
  file: string,
  { init, modules }: FirstProcess = { init: join(guest, 'first.sh'), modules: early },
): void {
  const first = join(folder, 'first');
  install(init, join(first, 'init'));
  install(join(tree, 'bin/busybox'), join(first, 'bin/busybox'));
  symlinkSync('busybox', join(first, 'bin/sh'));
  copyModules(kernel, version, modules, first);
  const names = execFileSync('find', ['.', '-mindepth', '1'], { cwd: first });
  const made = spawnSync('cpio', ['--quiet', '-o', '-H', 'newc', '-R', '0:0'], {
    cwd: first,
    input: names,
    maxBuffer: 2 ** 28,
  });
  if (made.status !== 0) throw new Error(`cpio: ${made.error?.message ?? made.stderr.toString()}`);
  writeFileSync(file, made.stdout);
}

/** Creates a file with a file system that contains `contents`. */
export function makeFileSystem(file: string, label: string, size: string, contents?: string): void {
  const from = contents === undefined ? [] : ['-d', contents];
  execFileSync('mke2fs', ['-q', '-t', 'ext4', '-L', label, ...from, file, size], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/sbin:/usr/sbin` },
  });
}

/** Creates the folder `/opt/car`: profile, configuration, trusted keys and a drive of ten seconds. */
export function makeCar(folder: string, trust: string): void {
  cpSync(join(import.meta.dirname, 'car'), folder, { recursive: true });
  copyFileSync(join(root, 'config/vehicles/generic-obd2/sae-j1979.json'), join(folder, 'sae-j1979.json'));
  copyFileSync(trust, join(folder, 'trust.json'));
  const lines = Array.from({ length: 1000 }, (_, i) => {
    const speed = Buffer.alloc(2);
    speed.writeUInt16LE(speeds[Math.floor(i / 100) % speeds.length] as number);
    return `(${(1_700_000_000 + i / 100).toFixed(6)}) vcan0 100#${speed.toString('hex')}${'00'.repeat(6)}\n`;
  });
  writeFileSync(join(folder, 'drive.log'), lines.join(''));
}

/** Speeds in the drive log, one per second, in 0.01 km/h: slow enough that the doors may be unlocked. */
export const speeds: readonly number[] = [0, 125, 250, 375, 500, 475, 350, 225, 100, 50];
