/**
 * A directory of keys: `<name>.pem` is the private key of a signer (PKCS #8, readable only by the owner), `trust.json`
 * contains the public keys, and the name of `<name>.counter.<n>` contains the signer's last counter.
 */

import { generateKeyPairSync } from 'node:crypto';
import { access, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { hex } from '../../protocol/hex.ts';
import { commandKinds } from '../../protocol/schema/remote.ts';
import { createFile, hasCode, readText, replaceFile, unwritten } from './files.ts';
import {
  formatTrust,
  type KeyAlgorithm,
  keyIdOf,
  parseTrust,
  TRUST_FILE,
  type TrustedKey,
  unknownKinds,
} from './trust-file.ts';

/** Public properties of a key. */
interface KeyDescription {
  readonly name: string;
  /** Key id in hexadecimal. */
  readonly kid: string;
  readonly algorithm: KeyAlgorithm;
  readonly kinds: readonly string[];
  /** Start of validity in UTC ms. If omitted, there is no limit. */
  readonly notBefore?: number;
  readonly notAfter?: number;
  /** True if the directory also contains the private key. */
  readonly signs: boolean;
}

interface GenerateOptions {
  readonly algorithm: KeyAlgorithm;
  /** Kinds of command that the key may sign. */
  readonly kinds: readonly string[];
  /** Start of validity in UTC ms. If omitted, there is no limit. */
  readonly notBefore?: number;
  readonly notAfter?: number;
}

/**
 * Creates a key pair. The private key never leaves the directory; the public key is added to the directory's trust
 * file, which a car reads at startup. Throws `usage.wrong` for an existing or invalid name and for kinds that do not
 * exist, and `store.failed` if the disk fails to write; then no files remain.
 */
export async function generateKey(directory: string, name: string, options: GenerateOptions): Promise<KeyDescription> {
  checkName(name);
  const unknown = unknownKinds(options.kinds);
  if (unknown.length > 0 || options.kinds.length === 0) {
    const which = unknown.length > 0 ? `unknown: ${unknown.join(', ')}` : 'no kind given';
    throw new VigieError('usage.wrong', `kinds of command ${which}; known are ${commandKinds.join(', ')}`);
  }
  const path = join(directory, `${name}.pem`);
  const trust = join(directory, TRUST_FILE);
  const taken = 'is there already; choose another name or remove it';
  await makeDirectory(directory);
  const trusted = await readTrust(directory);
  if (trusted.some((key) => key.name === name))
    throw new VigieError('usage.wrong', `key ${name} ${taken}`, { where: trust });
  const pair =
    options.algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
      : generateKeyPairSync('ed25519');
  try {
    await createFile(path, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, 0o600);
  } catch (error) {
    throw hasCode(error, 'EEXIST') ? new VigieError('usage.wrong', taken, { where: path }) : unwritten(path, error);
  }
  const { algorithm, kinds, notBefore, notAfter } = options;
  const key: TrustedKey = {
    name,
    kid: hex(keyIdOf(pair.publicKey)),
    algorithm,
    kinds,
    publicKey: pair.publicKey,
    ...defined({ notBefore, notAfter }),
  };
  try {
    await replaceFile(trust, formatTrust([...trusted, key]));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return describe(key, true);
}

/**
 * Returns the keys in a directory's trust file, in the file's order; empty if the file does not exist. Throws
 * `configuration.wrong` if the file is damaged.
 */
export async function listKeys(directory: string): Promise<KeyDescription[]> {
  const keys = await readTrust(directory);
  return Promise.all(keys.map(async (key) => describe(key, await exists(join(directory, `${key.name}.pem`)))));
}

/** Throws `usage.wrong` for a name that is not safe as a file name. */
export function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return;
  throw new VigieError('usage.wrong', `a key's name is 1 to 64 letters, digits, - and _; "${name}" is not`);
}

function describe({ publicKey: _, ...key }: TrustedKey, signs: boolean): KeyDescription {
  return { ...key, signs };
}

/** Returns the keys in a directory's trust file; empty if the file does not exist. */
export async function readTrust(directory: string): Promise<TrustedKey[]> {
  const path = join(directory, TRUST_FILE);
  if (!(await exists(path))) return [];
  return parseTrust(await readText(path, 'it was removed just now'), path);
}

/** Replaces the trust file of a directory. Rejects with `store.failed`. */
export async function writeTrust(directory: string, keys: readonly TrustedKey[]): Promise<void> {
  await makeDirectory(directory);
  await replaceFile(join(directory, TRUST_FILE), formatTrust(keys));
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unwritten(directory, error);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    // The file exists but cannot be accessed; its reader reports why.
    return true;
  }
}
