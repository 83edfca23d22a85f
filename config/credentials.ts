/** Files that systemd hands to the service: `credential:NAME` (systemd.exec(5), LoadCredential). */
import { accessSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './environment.ts';

const CREDENTIAL = 'credential:';

/** Where an administrator puts a credential for services. */
const STORE = '/etc/credstore';

/**
 * Where systemd looks for a credential of that name, in its order; last the copies that it hands to the service, which
 * are there while that runs: a drop-in may take a credential from elsewhere, or encrypted.
 */
const SOURCES = [
  '/run/credentials/@system',
  STORE,
  '/run/credstore',
  '/usr/lib/credstore',
  '/run/credentials/vigie.service',
];

/**
 * The path of `credential:NAME`; undefined for a path of another kind. In the service it is the file that was handed
 * over. Elsewhere, e.g. for `vigie check` in a shell, it is the file that systemd will take.
 */
export function credentialPath(written: string, environment: Environment): string | undefined {
  if (!written.startsWith(CREDENTIAL)) return undefined;
  const name = written.slice(CREDENTIAL.length).replaceAll('/', '_');
  const handed = environment['CREDENTIALS_DIRECTORY'];
  if (handed !== undefined && handed !== '') return join(handed, name);
  const files = SOURCES.map((folder) => join(folder, name));
  return files.find(mayBeThere) ?? join(STORE, name);
}

/** Whether a file is there, or is in a folder that this user may not look into. */
function mayBeThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

/** What to do about a credential that cannot be read at `path`; undefined for a file of another kind. */
export function credentialFix(path: string): string | undefined {
  if (!SOURCES.some((folder) => path.startsWith(`${folder}/`))) return undefined;
  return 'put the file there, readable for root only; systemd passes it to the service. Run the check as root';
}
