/** Stores passwords as salted scrypt hashes (RFC 7914), never in plain text. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { VigieError } from '../../../protocol/errors.ts';

/** Fields of `scrypt$N$r$p$salt$hash`; salt and hash are base64url. */
export interface PasswordHash {
  readonly cost: { readonly N: number; readonly r: number; readonly p: number };
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/** 16 MiB and about 40 ms on a small unit: for interactive logins (RFC 7914 §2), within the agent's memory. */
const COST = { N: 2 ** 14, r: 8, p: 1 };
const LENGTH = 32;
const FORM = /^scrypt\$(\d{1,8})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9_-]{11,86})\$([A-Za-z0-9_-]{43,86})$/;
/** Memory limit in bytes (N × r × 128) for hashes made elsewhere, so that they cannot exhaust the unit. */
const MOST_MEMORY = 64 * 2 ** 20;

/** Returns the hash of a password, as a string for the password file. */
export async function hashPassword(password: string, cost = COST): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, LENGTH, cost);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** Parses the output of {@link hashPassword}. @throws VigieError `configuration.wrong` naming `where` */
export function readPasswordHash(text: string, where: string): PasswordHash {
  const [, n, r, p, salt = '', hash = ''] = FORM.exec(text) ?? [];
  const cost = { N: Number(n), r: Number(r), p: Number(p) };
  const sound = cost.N > 1 && Number.isInteger(Math.log2(cost.N)) && cost.r > 0 && cost.p > 0;
  if (!sound || cost.N * cost.r * 128 > MOST_MEMORY) {
    throw new VigieError(
      'configuration.wrong',
      'is not a hash of a password (scrypt$N$r$p$salt$hash, at most 64 MiB)',
      {
        where,
      },
    );
  }
  return { cost, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') };
}

/** Takes as long for a wrong password as for the right one. */
export async function verifyPassword(password: string, { cost, salt, hash }: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derive(password, salt, hash.byteLength, cost), hash);
}

/**
 * Returns a hash that no password matches, as costly as the users' most expensive hash. Checked for unknown users, so
 * that the duration does not reveal which users exist.
 */
export function impossibleHash(users: readonly PasswordHash[]): PasswordHash {
  const work = ({ N, r, p }: PasswordHash['cost']): number => N * r * p;
  const [cost = COST] = users.map((user) => user.cost).sort((one, other) => work(other) - work(one));
  return { cost, salt: randomBytes(16), hash: randomBytes(LENGTH) };
}

function derive(password: string, salt: Uint8Array, length: number, cost: PasswordHash['cost']): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, key: Buffer): void => (error === null ? resolve(key) : reject(error));
    scrypt(password.normalize('NFC'), salt, length, { ...cost, maxmem: 2 * MOST_MEMORY }, done);
  });
}
