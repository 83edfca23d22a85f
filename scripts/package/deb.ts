/** The executable as a package of Debian (deb(5), Debian policy 4.6). */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { licences } from './licences.ts';
import type { PackageTarget } from './targets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const debian = join(import.meta.dirname, 'debian');
const service = join(root, 'scripts/service');

/** An example, which whoever sets up a car makes true. An upgrade asks before it changes that. */
const CONFIGURATION = 'etc/vigie/vigie.yaml';

/** `small`: as small as it gets, which takes a minute or two; `quick`: for trying it out. */
export type Compression = 'small' | 'quick';

/** The oldest C library that Node's executables run with. */
const dependencies = ['libc6 (>= 2.28)', 'libgcc-s1', 'libstdc++6 (>= 9)', 'init-system-helpers'];

/**
 * Packs an executable with the unit, its user, an example of a configuration and the documentation. The same input
 * gives the same bytes.
 * @throws Error when dpkg-deb is not there or refuses
 */
export function makePackage(target: PackageTarget, executable: string, file: string, compression: Compression): void {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-deb-'));
  try {
    for (const [place, from, mode] of contents(executable)) put(folder, place, contentsOf(from), mode);
    put(folder, 'usr/share/doc/vigie/copyright', licences(target));
    mkdirSync(join(folder, 'usr/bin'), { recursive: true });
    symlinkSync('../lib/vigie/vigie', join(folder, 'usr/bin/vigie'));
    put(folder, 'DEBIAN/control', control(target, sizeOf(folder)));
    put(folder, 'DEBIAN/conffiles', `/${CONFIGURATION}\n`);
    for (const script of ['postinst', 'prerm', 'postrm']) {
      put(folder, `DEBIAN/${script}`, readFileSync(join(debian, script)), 0o755);
    }
    for (const path of directories(folder)) chmodSync(path, 0o755);
    mkdirSync(dirname(file), { recursive: true });
    const how = compression === 'small' ? ['-Zxz', '-z9', '--threads-max=1'] : ['-Zgzip', '-z1'];
    execFileSync('dpkg-deb', ['--build', '--root-owner-group', ...how, folder, file], {
      stdio: ['ignore', 'ignore', 'inherit'],
      // Times of files are those of the sources, whenever this is run.
      env: { ...process.env, SOURCE_DATE_EPOCH: process.env['SOURCE_DATE_EPOCH'] ?? lastChange() },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Place in the system, file that lies there, and its mode. */
function contents(executable: string): readonly (readonly [place: string, from: string, mode?: number])[] {
  const documents = ['configuration.md', 'operations.md', 'profiles.md', 'commands.md'];
  return [
    ['usr/lib/vigie/vigie', executable, 0o755],
    [CONFIGURATION, join(service, 'vigie.yaml')],
    ['usr/lib/systemd/system/vigie.service', join(service, 'vigie.service')],
    ['usr/lib/sysusers.d/vigie.conf', join(service, 'sysusers.conf')],
    ['usr/lib/tmpfiles.d/vigie.conf', join(service, 'tmpfiles.conf')],
    ['usr/lib/sysctl.d/vigie.conf', join(service, 'sysctl.conf')],
    ['usr/share/vigie/vigie.schema.json', join(root, 'config/generated/vigie.schema.json')],
    ['usr/share/vigie/profile.schema.json', join(root, 'config/generated/profile.schema.json')],
    ['usr/share/vigie/vigie.cddl', join(root, 'protocol/generated/vigie.cddl')],
    ...documents
      .map((name) => [`usr/share/doc/vigie/${name}`, join(root, 'docs', name)] as const)
      .filter(([, from]) => existsSync(from)),
    ['usr/share/doc/vigie/examples/mosquitto.conf', join(root, 'config/brokers/mosquitto.conf')],
    ['usr/share/doc/vigie/examples/mosquitto.acl', join(root, 'config/brokers/mosquitto.acl')],
  ];
}

/** Pages have readers of a checkout type `npx vigie`; the package puts `vigie` on the path. */
function contentsOf(file: string): Uint8Array | string {
  const bytes = readFileSync(file);
  return file.endsWith('.md') ? bytes.toString('utf8').replaceAll('npx vigie', 'vigie') : bytes;
}

function put(folder: string, place: string, bytes: Uint8Array | string, mode = 0o644): void {
  const path = join(folder, place);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  // Whatever the umask of this process.
  chmodSync(path, mode);
}

function directories(folder: string): readonly string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...found.map((entry) => join(entry.parentPath, entry.name))];
}

/** KiB, each file rounded up (Debian policy 5.6.20). */
function sizeOf(folder: string): number {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return found.reduce((sum, entry) => sum + Math.ceil(statSync(join(entry.parentPath, entry.name)).size / 1024), 0);
}

function control(target: PackageTarget, installed: number): string {
  const { version, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const needed = target.arch === 'arm' ? [...dependencies, 'libatomic1'] : dependencies;
  return `Package: vigie
Version: ${version}
Architecture: ${target.debian}
Maintainer: Vigie <vigie@localhost>
Installed-Size: ${installed}
Depends: ${needed.join(', ')}
Recommends: iproute2
Suggests: can-utils, gpsd, mosquitto
Section: net
Priority: optional
Description: ${description?.split(':')[0] ?? 'agent of a car'}
 Reads CAN, OBD and GNSS, keeps the car's status and records, publishes them as
 CBOR over MQTT and carries out signed commands. One executable with everything
 in it.
`;
}

/** Seconds since 1970 of the last commit; where the sources are no repository, of their manifest. */
function lastChange(): string {
  try {
    return execFileSync('git', ['log', '-1', '--format=%ct'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return String(Math.floor(statSync(join(root, 'package.json')).mtimeMs / 1000));
  }
}
