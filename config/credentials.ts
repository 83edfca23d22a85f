/** Secrets in files, also those that systemd hands to the service: `credential:NAME` (systemd.exec(5), LoadCredential). */
import { accessSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { VigieError } from '../protocol/errors.ts';
import { reason } from './document.ts';
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

/** Advice for a credential that cannot be read at `path`. Undefined for a file of another kind. */
export function credentialFix(path: string): string | undefined {
  if (!SOURCES.some((folder) => path.startsWith(`${folder}/`))) return undefined;
  return 'put the file there, readable for root only; systemd passes it to the service. Run the check as root';
}

/** Passwords are short; a larger file is the wrong one. */
const LONGEST_SECRET = 4096;

/**
 * The secret in a file, without the line end that editors add.
 * @throws VigieError `input.unreadable` when it cannot be read, `configuration.wrong` when it holds no secret.
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
