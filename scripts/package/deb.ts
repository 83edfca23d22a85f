/** Builds the Debian package of the program (deb(5), Debian policy 4.6). */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { CONFIGURATION, contents, MAINTAINER } from './contents.ts';
import { bundleForTarget, type ProgramKind } from './program.ts';
import type { PackageTarget } from './targets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = manifest;
const debian = join(import.meta.dirname, 'debian');

/** `small`: best compression, which takes a minute or two. `quick`: fast, for trials. */
export type Compression = 'small' | 'quick';

/** Disallows code generation from strings, as the executable does. */
const LAUNCHER = `#!/bin/sh
exec /usr/bin/node --disallow-code-generation-from-strings /usr/lib/vigie/vigie.cjs "$@"
`;

/** Dependencies. The versions are those of the oldest C library that Node's executables support. */
const dependencies = ['libc6 (>= 2.28)', 'libgcc-s1', 'libstdc++6 (>= 9)', 'init-system-helpers (>= 1.54)'];

/** A file that the package installs as the program. */
export interface PackagedProgram {
  readonly path: string;
  readonly kind: ProgramKind;
}

/** Oldest Node in a Debian release (13, "trixie") that can run the script. */
export const SYSTEM_NODE = '20.19';

/** Returns the package version. The script's sorts after the executable's, so that either replaces the other. */
export function packageVersion(kind: ProgramKind): string {
  return kind === 'script' ? `${version}+node` : version;
}

/**
 * Packs a program with its service unit, system user, example configuration and documentation. The same input gives the
 * same bytes.
 * @throws Error if dpkg-deb is missing or fails
 */
export async function makePackage(
  target: PackageTarget,
  { path: program, kind }: PackagedProgram,
  file: string,
  compression: Compression,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-deb-'));
  try {
    const seconds = process.env['SOURCE_DATE_EPOCH'] ?? lastChange();
    for (const [place, bytes] of await contents(target, version, new Date(Number(seconds) * 1000), kind)) {
      put(folder, place, bytes);
    }
    if (kind === 'script') {
      put(folder, 'usr/lib/vigie/vigie.cjs', readFileSync(program));
      put(folder, 'usr/lib/vigie/vigie', LAUNCHER, 0o755);
    } else put(folder, 'usr/lib/vigie/vigie', readFileSync(program), 0o755);
    mkdirSync(join(folder, 'usr/bin'), { recursive: true });
    symlinkSync('../lib/vigie/vigie', join(folder, 'usr/bin/vigie'));
    put(folder, 'DEBIAN/control', control(target, kind, sizeOf(folder)));
    put(folder, 'DEBIAN/conffiles', `/${CONFIGURATION}\n`);
    for (const script of ['postinst', 'prerm', 'postrm']) {
      put(folder, `DEBIAN/${script}`, readFileSync(join(debian, script)), 0o755);
    }
    for (const path of directories(folder)) chmodSync(path, 0o755);
    mkdirSync(dirname(file), { recursive: true });
    const how = compression === 'small' ? ['-Zxz', '-z9', '--threads-max=1'] : ['-Zgzip', '-z1'];
    // A temporary name, so that an interrupted run leaves no incomplete package under the final name.
    const unfinished = `${file}.unfinished`;
    execFileSync('dpkg-deb', ['--build', '--root-owner-group', ...how, folder, unfinished], {
      stdio: ['ignore', 'ignore', 'inherit'],
      // Files in the package have the time of the sources, regardless of when this runs.
      env: { ...process.env, SOURCE_DATE_EPOCH: seconds },
    });
    renameSync(unfinished, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Packs the program without Node. It is bundled for the system's Node, for which the distribution publishes security
 * updates.
 * @throws Error if dpkg-deb is missing or fails
 */
export async function makeScriptPackage(target: PackageTarget, file: string, compression: Compression): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-script-'));
  try {
    const forSystem = { ...target, language: `node${SYSTEM_NODE}`, assets: false };
    const { script } = await bundleForTarget(forSystem, folder, 'script');
    await makePackage(target, { path: script, kind: 'script' }, file, compression);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function put(folder: string, place: string, bytes: Uint8Array | string, mode = 0o644): void {
  const path = join(folder, place);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  // Independent of the umask of this process.
  chmodSync(path, mode);
}

function directories(folder: string): readonly string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...found.map((entry) => join(entry.parentPath, entry.name))];
}

/** Returns the installed size in KiB, with the size of each file rounded up (Debian policy 5.6.20). */
function sizeOf(folder: string): number {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return found.reduce((sum, entry) => sum + Math.ceil(statSync(join(entry.parentPath, entry.name)).size / 1024), 0);
}

function control(target: PackageTarget, kind: ProgramKind, installed: number): string {
  const carried = target.arch === 'arm' ? [...dependencies, 'libatomic1'] : dependencies;
  const needed = kind === 'script' ? [`nodejs (>= ${SYSTEM_NODE})`, ...dependencies] : carried;
  const holds = kind === 'script' ? "Runs on the system's Node.js." : 'One executable with everything\n in it.';
  return `Package: vigie
Version: ${packageVersion(kind)}
Architecture: ${target.debian}
Maintainer: ${MAINTAINER}
Installed-Size: ${installed}
Depends: ${needed.join(', ')}
Recommends: iproute2
Suggests: can-utils, gpsd, mosquitto
Section: net
Priority: optional
Description: agent in a car's telematics unit, CAN in and CBOR over MQTT out
 Reads CAN, OBD and GNSS, keeps the car's status and records, publishes them as
 CBOR over MQTT and carries out signed commands. ${holds}
`;
}

/** Returns the time of the last commit, or of the manifest outside a repository, in seconds since 1970. */
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
