/**
 * Suites that run against a program of the system. Where it is not installed, they are skipped by name.
 */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describeNeeding } from '../needs.ts';

/** Debian keeps the programs of a PostgreSQL server in a folder of its version, the newest first here. */
const POSTGRESQL = '/usr/lib/postgresql';
const versions = existsSync(POSTGRESQL) ? readdirSync(POSTGRESQL).toSorted((a, b) => Number(b) - Number(a)) : [];

/** Daemons lie outside the PATH of an ordinary user. */
const folders = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  ...['/usr/sbin', '/usr/local/sbin'],
  ...versions.map((version) => join(POSTGRESQL, version, 'bin')),
];

/** The program's full path, or undefined. */
export function findPeer(command: string): string | undefined {
  return folders.map((folder) => join(folder, command)).find(executable);
}

/** `describe` for suites that need `command`, e.g. `mosquitto`; `scripts/install-peers.sh` installs it. */
export function describePeer(command: string, name: string, suite: () => void): void {
  describePeers([command], name, suite);
}

/** `describe` for suites that need several programs; the first that is absent is the reason. */
export function describePeers(commands: readonly string[], name: string, suite: () => void): void {
  const absent = commands.find((command) => findPeer(command) === undefined);
  describeNeeding(
    absent === undefined,
    `${absent} is not installed; run scripts/install-peers.sh as root`,
    name,
    suite,
  );
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
