/** Commands that add or revoke trusted keys of a car. */

import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { algorithmOf, keyIdOf, readTrust, type TrustedKey, unknownKinds } from '../../adapters/keys/index.ts';
import { defined } from '../../protocol/defined.ts';
import { commandKinds } from '../../protocol/schema/remote.ts';
import { type SendRequest, wrong } from './request.ts';

type Added = Pick<TrustedKey, 'name' | 'publicKey' | 'kinds' | 'notBefore' | 'notAfter'>;

/**
 * Returns an order for each key. A key is given by its name in the trust file of the directory `keys`, or by a public
 * key file (PEM), for which `kinds` is required. `kinds` are separated by commas, and replace those in the trust file.
 */
export async function addedKeys(
  names: readonly string[],
  kinds: string | undefined,
  keys: string,
): Promise<SendRequest[]> {
  const chosen = kinds?.split(',').map((kind) => kind.trim());
  const unknown = unknownKinds(chosen ?? []);
  if (unknown.length > 0) throw wrong(`--kinds has ${unknown.join(', ')}; known are ${commandKinds.join(', ')}`);
  const trusted = await readTrust(keys);
  return names.map((name) => {
    const found: Added | undefined = trusted.find((key) => key.name === name) ?? keyIn(name, chosen);
    if (found === undefined) throw wrong(unfound(name, trusted, keys, 'a file with a public key (PEM)'));
    const { publicKey, notBefore, notAfter } = found;
    const add = {
      name: found.name,
      publicKey: new Uint8Array(publicKey.export({ type: 'spki', format: 'der' })),
      kinds: [...(chosen ?? found.kinds)],
      ...defined({ notBefore, notAfter }),
    };
    return { kind: 'Trust', body: { add } };
  });
}

/** Returns an order for each key: its id (16 hexadecimal digits), its name in the trust file, or its file. */
export async function revokedKeys(names: readonly string[], keys: string): Promise<SendRequest[]> {
  const trusted = await readTrust(keys);
  return names.map((name) => {
    const known = trusted.find((key) => key.name === name)?.publicKey ?? publicKeyIn(name);
    if (known !== undefined) return { kind: 'Trust', body: { revoke: keyIdOf(known) } };
    if (!/^[0-9a-f]{16}$/i.test(name)) throw wrong(unfound(name, trusted, keys, 'a key id of 16 hexadecimal digits'));
    return { kind: 'Trust', body: { revoke: new Uint8Array(Buffer.from(name, 'hex')) } };
  });
}

function unfound(name: string, trusted: readonly TrustedKey[], keys: string, other: string): string {
  const names = trusted.map((key) => key.name).join(', ');
  return `"${name}" is neither ${other} nor a key in ${keys}${names === '' ? '' : ` (${names})`}`;
}

function keyIn(file: string, kinds: readonly string[] | undefined): Added | undefined {
  const publicKey = publicKeyIn(file);
  if (publicKey === undefined) return undefined;
  if (kinds === undefined)
    throw wrong(`the command kinds of ${file} are missing: give --kinds with some of ${commandKinds.join(', ')}`);
  const name = basename(file, extname(file));
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) {
    throw wrong(`${file} gives the key its name: 1 to 64 letters, digits, - and _ before the ending`);
  }
  return { name, publicKey, kinds };
}

function publicKeyIn(file: string): KeyObject | undefined {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  // A private key contains the public one, but accepting it would invite users to pass private keys around.
  if (!text.includes('-----BEGIN PUBLIC KEY-----'))
    throw wrong(`${file} is not a public key (PEM, -----BEGIN PUBLIC KEY-----)`);
  let key: KeyObject;
  try {
    key = createPublicKey(text);
  } catch (error) {
    throw wrong(`${file} is not a public key: ${(error as Error).message}`);
  }
  if (algorithmOf(key) === undefined) throw wrong(`${file} is not a key of P-256 or Ed25519`);
  return key;
}
