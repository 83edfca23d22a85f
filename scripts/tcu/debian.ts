/** A whole small Debian with systemd and our package, as an operator would set up a unit. */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bootstrapped } from '../bootstrap.ts';
import { copyModules, type Disks, early, late, makeFileSystem, makeMemoryDisk } from './disks.ts';
import type { LinuxDistribution } from './distribution.ts';

const guest = join(import.meta.dirname, 'guest');
const programs = ['systemd-sysv', 'kmod', 'iproute2', 'can-utils', 'libstdc++6'];

/**
 * Creates the disks of a unit in `folder`: a fresh Debian for this machine's architecture, in which our package is
 * installed, configured, and starts automatically.
 * @param etc folder whose files are copied to `/etc/vigie`
 * @param environment contents of `/etc/default/vigie`
 * @throws Error with the message of debootstrap or dpkg
 */
export function makeDebian(
  folder: string,
  distribution: LinuxDistribution,
  deb: string,
  etc: string,
  environment: string,
): Disks {
  return makeUnit(folder, distribution, (system) => {
    put(system, 'usr/local/bin/car', join(guest, 'car.sh'), 0o755);
    put(system, 'etc/systemd/system/car.service', join(guest, 'car.service'));
    copyFileSync(deb, join(system, 'tmp/vigie.deb'));
    run('chroot', system, 'dpkg', '-i', '/tmp/vigie.deb');
    run('chroot', system, 'systemctl', 'enable', 'car');
    rmSync(join(system, 'tmp/vigie.deb'));
    cpSync(etc, join(system, 'etc/vigie'), { recursive: true });
    cpSync(join(etc, 'drive.log'), join(system, 'opt/car/drive.log'));
    writeFileSync(join(system, 'etc/default/vigie'), environment);
  });
}

/**
 * Creates the disks of a fresh Debian with a network, as debootstrap makes it. The given files are in the folder in
 * which its console starts.
 * @throws Error with debootstrap's message
 */
export function makeFreshDebian(folder: string, distribution: LinuxDistribution, files: readonly string[]): Disks {
  return makeUnit(folder, distribution, (system) => {
    for (const name of files) copyFileSync(name, join(system, basename(name)));
    put(system, 'etc/systemd/system/network.service', join(guest, 'network.service'));
    run('chroot', system, 'systemctl', 'enable', 'network');
  });
}

/** Creates a fresh Debian that accepts commands on its console. `prepare` changes the system before it boots. */
function makeUnit(folder: string, distribution: LinuxDistribution, prepare: (system: string) => void): Disks {
  const { kernel, version } = distribution;
  const disks: Disks = {
    kernel: join(kernel, 'boot', `vmlinuz-${version}`),
    memoryDisk: join(folder, 'first.cpio'),
    system: join(folder, 'system.img'),
    data: join(folder, 'data.img'),
    writable: true,
  };
  makeMemoryDisk(folder, distribution, disks.memoryDisk);
  const system = join(folder, 'system');
  // Keep owners, and device files as such.
  run('cp', '-a', bootstrapped(programs), system);
  put(system, 'usr/local/bin/console', join(guest, 'console.sh'), 0o755);
  put(system, 'etc/systemd/system/console.service', join(guest, 'console.service'));
  put(system, 'etc/systemd/system/vigie.service.d/emulated.conf', join(guest, 'emulated.conf'));
  writeFileSync(join(system, 'etc/fstab'), 'LABEL=system / ext4 rw 0 0\n');
  run('chroot', system, 'systemctl', 'enable', 'console');
  prepare(system);
  copyModules(kernel, version, [...early, ...late], system);
  run('depmod', '-b', system, version);
  makeFileSystem(disks.system, 'system', '900M', system);
  makeFileSystem(disks.data, 'data', '16M');
  rmSync(system, { recursive: true });
  return disks;
}

function put(system: string, place: string, from: string, mode = 0o644): void {
  const path = join(system, place);
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(from, path);
  chmodSync(path, mode);
}

function run(program: string, ...args: string[]): void {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
}
