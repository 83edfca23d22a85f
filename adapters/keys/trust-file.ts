/**
 * The trust file: JSON in the car that lists the keys whose commands the car obeys.
 *
 *     { "version": 1, "keys": [ { "name": "bench", "kid": "9f86d081884c7d65", "algorithm": "ES256",
 *       "kinds": ["Doors"], "publicKey": "<SubjectPublicKeyInfo, base64>", "notAfter": "2030-01-01T00:00:00.000Z" } ] }
 */

import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EDDSA, ES256, type SigningAlgorithm } from '../../protocol/cose.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { hex } from '../../protocol/hex.ts';
import { commandKinds } from '../../protocol/schema/remote.ts';
import { isRecord } from '../../protocol/slots.ts';
import { unreadable } from './files.ts';

/** Signature algorithms by their usual names. */
export const algorithms = { ES256, Ed25519: EDDSA } as const satisfies Record<string, SigningAlgorithm>;
export type KeyAlgorithm = keyof typeof algorithms;

/** Name of the trust file in a directory of keys. */
export const TRUST_FILE = 'trust.json';
const VERSION = 1;

/** A key whose commands the car obeys. */
export interface TrustedKey {
  readonly name: string;
  /** Key id: the first 8 bytes of the SHA-256 of the SubjectPublicKeyInfo, in hexadecimal. */
  readonly kid: string;
  readonly algorithm: KeyAlgorithm;
  /** Kinds of command that the key may sign. */
  readonly kinds: readonly string[];
  readonly publicKey: KeyObject;
  /** Start of validity in UTC ms. If omitted, there is no limit. */
  readonly notBefore?: number;
  readonly notAfter?: number;
}

/** Returns the key id of a public key. */
export function keyIdOf(publicKey: KeyObject): Uint8Array {
  const digest = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
  return new Uint8Array(digest.subarray(0, 8));
}

/** Returns the signature algorithm of a public or private key, or undefined for keys of other kinds. */
export function algorithmOf(key: KeyObject): KeyAlgorithm | undefined {
  if (key.asymmetricKeyType === 'ed25519') return 'Ed25519';
  const curve = key.asymmetricKeyDetails?.namedCurve;
  return key.asymmetricKeyType === 'ec' && curve === 'prime256v1' ? 'ES256' : undefined;
}

/** Returns the kinds of command in `kinds` that do not exist. */
export function unknownKinds(kinds: readonly string[]): string[] {
  return kinds.filter((kind) => !(commandKinds as readonly string[]).includes(kind));
}

/** Returns keys in the form that a trust file has. */
export function trustEntries(keys: readonly TrustedKey[]): readonly object[] {
  return keys.map(({ publicKey, notBefore, notAfter, ...key }) => ({
    ...key,
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    ...(notBefore === undefined ? {} : { notBefore: new Date(notBefore).toISOString() }),
    ...(notAfter === undefined ? {} : { notAfter: new Date(notAfter).toISOString() }),
  }));
}

/** Returns the content of a trust file. */
export function formatTrust(keys: readonly TrustedKey[]): string {
  const entries = trustEntries(keys);
  return `${JSON.stringify({ version: VERSION, keys: entries }, undefined, 2)}\n`;
}

/** Returns the keys in a trust file. Throws `input.unreadable` or `configuration.wrong`, with the path and a remedy. */
export function readTrustFile(path: string): TrustedKey[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error, 'copy the trust.json that lies beside the signing keys, or make keys (vigie keys)');
  }
  return parseTrust(text, path);
}

/** Parses a trust file. Throws `configuration.wrong` with the file, the faulty field and its valid form. */
export function parseTrust(text: string, path: string): TrustedKey[] {
  const fail = (what: string, cause?: unknown): VigieError =>
    new VigieError('configuration.wrong', `${what}; restore the file or make the keys anew`, { where: path, cause });
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw fail(`is not JSON: ${(error as Error).message}`, error);
  }
  if (!isRecord(content)) throw fail('must be an object');
  if (content['version'] !== VERSION) throw fail(`version must be ${VERSION}`);
  const keys = readEntries(content['keys'], fail);
  for (const [index, { kid, name }] of keys.entries()) {
    const other = keys.findIndex((key) => key.kid === kid || key.name === name);
    if (other < index) throw fail(`keys[${index}] has the kid or name of keys[${other}]`);
  }
  return keys;
}

/** Parses the result of {@link trustEntries}. Throws the error that `fail` returns for a fault and its cause. */
export function readEntries(entries: unknown, fail: (what: string, cause?: unknown) => VigieError): TrustedKey[] {
  if (!Array.isArray(entries)) throw fail('keys must be a list');
  return entries.map((entry: unknown, index) =>
    trustedKey(entry, (what, cause) => fail(`keys[${index}]${what}`, cause)),
  );
}

function trustedKey(entry: unknown, fail: (what: string, cause?: unknown) => VigieError): TrustedKey {
  if (!isRecord(entry)) throw fail(' must be an object');
  const { name, kid, algorithm, kinds, publicKey: encoded } = entry;
  if (typeof name !== 'string' || name === '') throw fail('.name must be a text');
  if (typeof encoded !== 'string') throw fail('.publicKey must be a base64 text');
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey({ key: Buffer.from(encoded, 'base64'), type: 'spki', format: 'der' });
  } catch (error) {
    throw fail(`.publicKey is not a SubjectPublicKeyInfo in base64: ${(error as Error).message}`, error);
  }
  const actual = algorithmOf(publicKey);
  if (actual === undefined) throw fail('.publicKey must be of P-256 or Ed25519');
  if (algorithm !== actual) throw fail(`.algorithm must be ${actual}, which the public key is for`);
  const id = hex(keyIdOf(publicKey));
  if (kid !== id) throw fail(`.kid must be ${id}, which the public key has`);
  if (!Array.isArray(kinds) || kinds.length === 0 || !kinds.every((kind) => typeof kind === 'string')) {
    throw fail('.kinds must be a list of kinds of command');
  }
  const unknown = unknownKinds(kinds);
  if (unknown.length > 0) throw fail(`.kinds has ${unknown.join(', ')}; known are ${commandKinds.join(', ')}`);
  const notBefore = moment(entry, 'notBefore', fail);
  const notAfter = moment(entry, 'notAfter', fail);
  return {
    name,
    kid,
    algorithm: actual,
    kinds,
    publicKey,
    ...defined({ notBefore, notAfter }),
  };
}

/** RFC 3339 with an offset: without it, the date would depend on the reader's time zone. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function moment(entry: object, member: string, fail: (what: string) => VigieError): number | undefined {
  const value = (entry as Record<string, unknown>)[member];
  if (value === undefined) return undefined;
  const time = typeof value === 'string' && rfc3339.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time)) throw fail(`.${member} must be a date such as 2030-01-01T00:00:00Z`);
  return time;
}
