/** Keys that tokens are checked with: a JWK Set (RFC 7517 §5) by file or address, or public keys in PEM. */
import { createPublicKey } from 'node:crypto';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose';
import type { Clock, Log } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';

/** Waits for the issuer's answer, and between two questions for a key that it does not know; ms. */
const TIMEOUT = 5_000;
const COOLDOWN = 30_000;
/** Files of keys are looked at so often while tokens come, and when a token names a key that is not in them; ms. */
const LOOK = 10_000;
const LOOK_FOR_KEY = 1_000;
/** A key that was withdrawn is taken no longer than this, ms. */
const LONGEST_USE = 600_000;

/**
 * Asks the issuer when a token names a key that is not known yet; what it said is kept for ten minutes.
 * @throws VigieError `configuration.wrong` for an address that is neither https nor on this machine
 */
export function keysByAddress(address: string): JWTVerifyGetKey {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const here = url?.protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url === undefined || (url.protocol !== 'https:' && !here)) {
    throw new VigieError('configuration.wrong', 'keys come over https only, or anybody on the way could sign tokens', {
      where: address,
    });
  }
  return createRemoteJWKSet(url, { timeoutDuration: TIMEOUT, cooldownDuration: COOLDOWN, cacheMaxAge: LONGEST_USE });
}

/** Files that hold keys, and how they are read. */
interface KeyFiles {
  /** Their texts. Throws `input.unreadable`. */
  readonly read: () => readonly string[];
  /** The keys in them. Throws `configuration.wrong`. */
  readonly make: (texts: readonly string[]) => JWTVerifyGetKey;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The keys of files that may be replaced while the agent runs. What cannot be read then is said, and the keys of before
 * hold.
 * @throws VigieError as `read` and `make` do, for the files as they are now
 */
export function keysOfFiles({ read, make, clock, log }: KeyFiles): JWTVerifyGetKey {
  let texts = read();
  let keys = make(texts);
  let looked = clock.monotonic();
  /** True if the keys have changed. Reads the files only if the last look is at least this long ago, ms. */
  const look = (after: number): boolean => {
    if (clock.monotonic() - looked < after) return false;
    looked = clock.monotonic();
    try {
      const now = read();
      if (now.length === texts.length && now.every((text, index) => text === texts[index])) return false;
      keys = make(now);
      texts = now;
      log.info('http.issuerKeys.renewed');
      return true;
    } catch (error) {
      log.warn('http.issuerKeys.kept', {
        error: (error as Error).message,
      });
      return false;
    }
  };
  return async (header, token) => {
    look(LOOK);
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !look(LOOK_FOR_KEY)) throw error;
      return keys(header, token);
    }
  };
}

/** `text` is a JWK Set as JSON. @throws VigieError `configuration.wrong` naming `where` */
export function keysOfSet(text: string, where: string): JWTVerifyGetKey {
  try {
    return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
  } catch (cause) {
    throw new VigieError('configuration.wrong', 'is not a JWK Set: {"keys": [...]}', { where, cause });
  }
}

/**
 * The public keys of PEM texts; a token is checked with those that fit its algorithm, however it names its key.
 * @throws VigieError `configuration.wrong` naming the file
 */
export function keysOfPem(texts: readonly { readonly pem: string; readonly where: string }[]): JWTVerifyGetKey {
  const keys = texts.map(({ pem, where }) => {
    // createPublicKey would take a private key as well, which has no place in a car.
    if (!/-----BEGIN (PUBLIC KEY|CERTIFICATE)-----/.test(pem)) {
      throw new VigieError('configuration.wrong', 'is not a public key or certificate in PEM', { where });
    }
    try {
      return createPublicKey(pem).export({ format: 'jwk' }) as JWK;
    } catch (cause) {
      throw new VigieError('configuration.wrong', 'is a damaged public key', { where, cause });
    }
  });
  return createLocalJWKSet({ keys });
}
