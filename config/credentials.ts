/** Secrets in files, including credentials from systemd: `credential:NAME` (systemd.exec(5), LoadCredential). */
import { accessSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { VigieError } from '../protocol/errors.ts';
import { reason } from './document.ts';
import type { Environment } from './environment.ts';

const CREDENTIAL = 'credential:';

/** Folder in which an administrator stores credentials for services. */
const STORE = '/etc/credstore';

/**
 * Places in which systemd searches for a credential, in its order. The last place contains the copies for the service,
 * which exist only while it runs: a drop-in may load a credential from elsewhere, or encrypted.
 */
const SOURCES = [
  '/run/credentials/@system',
  STORE,
  '/run/credstore',
  '/usr/lib/credstore',
  '/run/credentials/vigie.service',
];

/**
 * Returns the path of `credential:NAME`, or undefined for any other path. In the service, this is the file that systemd
 * provided. Elsewhere, e.g. for `vigie check` in a shell, it is the file that systemd will load.
 */
export function credentialPath(written: string, environment: Environment): string | undefined {
  if (!written.startsWith(CREDENTIAL)) return undefined;
  const name = written.slice(CREDENTIAL.length).replaceAll('/', '_');
  const handed = environment['CREDENTIALS_DIRECTORY'];
  if (handed !== undefined && handed !== '') return join(handed, name);
  const files = SOURCES.map((folder) => join(folder, name));
  return files.find(mayBeThere) ?? join(STORE, name);
}

/** Returns true if the file exists, or may exist in a folder that this user cannot read. */
function mayBeThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

/** Returns advice for an unreadable credential at `path`, or undefined if the file is not a credential. */
export function credentialFix(path: string): string | undefined {
  if (!SOURCES.some((folder) => path.startsWith(`${folder}/`))) return undefined;
  return 'put the file there, readable for root only; systemd passes it to the service. Run the check as root';
}

/** Size in bytes of the longest secret. Passwords are short; a larger file is the wrong one. */
const LONGEST_SECRET = 4096;

/**
 * Returns the secret in a file, without the trailing newline that editors add.
 * @throws VigieError `input.unreadable` if the file is unreadable, `configuration.wrong` if it contains no secret
 */
export function readSecret(file: string): string {
  let secret: string;
  try {
    if (statSync(file).size > LONGEST_SECRET) {
      throw new VigieError('configuration.wrong', `is longer than ${LONGEST_SECRET} bytes, which no secret is`, {
        where: file,
      });
    }
    secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    if (error instanceof VigieError) throw error;
    throw new VigieError('input.unreadable', `the secret cannot be read: ${reason(error)}`, {
      where: file,
      cause: error,
    });
  }
  if (secret === '') throw new VigieError('configuration.wrong', 'the file of the secret is empty', { where: file });
  return secret;
}
