/**
 * Suites that need a program or a device of the system. If it is missing, they are skipped by name.
 */
import { accessSync, closeSync, constants, existsSync, openSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describeNeeding } from '../needs.ts';

/** Debian puts the programs of a PostgreSQL server in one folder per version. The newest comes first here. */
const POSTGRESQL = '/usr/lib/postgresql';
const versions = existsSync(POSTGRESQL) ? readdirSync(POSTGRESQL).toSorted((a, b) => Number(b) - Number(a)) : [];

/** Daemons are outside the PATH of an ordinary user. */
const folders = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  '/usr/sbin',
  '/usr/local/sbin',
  ...versions.map((version) => join(POSTGRESQL, version, 'bin')),
];

/** Full path of the program, or undefined. */
export function findPeer(command: string): string | undefined {
  return folders.map((folder) => join(folder, command)).find(executable);
}

/** `describe` for suites that need `command`, e.g. `mosquitto`. `scripts/install-peers.sh` installs it. */
export function describePeer(command: string, name: string, suite: () => void): void {
  describePeers([command], name, suite);
}

/**
 * `describe` for suites that need several programs or devices, e.g. `/dev/ptmx` for pseudo-terminals. The first missing
 * one is the reason for skipping.
 */
export function describePeers(peers: readonly string[], name: string, suite: () => void): void {
  const absence = peers.map(absenceOf).find((reason) => reason !== undefined);
  describeNeeding(absence === undefined, absence ?? '', name, suite);
}

function absenceOf(peer: string): string | undefined {
  if (peer.startsWith('/')) return opens(peer) ? undefined : `${peer} cannot be opened here`;
  if (findPeer(peer) !== undefined) return undefined;
  return `${peer} is not installed; run scripts/install-peers.sh as root`;
}

/** A container without the pseudo-terminal file system may have the device, and only opening it fails. */
function opens(device: string): boolean {
  try {
    closeSync(openSync(device, 'r+'));
    return true;
  } catch {
    return false;
  }
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
