/** Keys that verify tokens: a JWK Set (RFC 7517 §5) from files or an address, or public keys in PEM. */
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

/** Timeout of a request to the issuer, and minimum time between two requests for unknown keys, in ms. */
const TIMEOUT = 5_000;
const COOLDOWN = 30_000;
/** Minimum time between two reads of the key files in ms, for any token and for a token that names an unknown key. */
const LOOK = 10_000;
const LOOK_FOR_KEY = 1_000;
/** Maximum time in ms for which a withdrawn key is still accepted. */
const LONGEST_USE = 600_000;

/**
 * Requests keys from the issuer if a token names an unknown key; caches the response for ten minutes.
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

/** Files that contain keys, and the functions that read them. */
interface KeyFiles {
  /** Returns the contents of the files. Throws `input.unreadable`. */
  readonly read: () => readonly string[];
  /** Returns the keys in the contents. Throws `configuration.wrong`. */
  readonly make: (texts: readonly string[]) => JWTVerifyGetKey;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Returns the keys in files that may be replaced while the agent runs. If the files become unreadable, logs a warning
 * and keeps the previous keys.
 * @throws VigieError as `read` and `make` do, for the current files
 */
export function keysOfFiles({ read, make, clock, log }: KeyFiles): JWTVerifyGetKey {
  let texts = read();
  let keys = make(texts);
  let looked = clock.monotonic();
  /** Returns true if the keys have changed. Reads the files only if the last read was at least `after` ms ago. */
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

/** Returns the keys of a JWK Set in JSON. @throws VigieError `configuration.wrong` naming `where` */
export function keysOfSet(text: string, where: string): JWTVerifyGetKey {
  try {
    return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
  } catch (cause) {
    throw new VigieError('configuration.wrong', 'is not a JWK Set: {"keys": [...]}', { where, cause });
  }
}

/**
 * Returns the public keys in PEM strings. Each token is verified with the keys that fit its algorithm, regardless of
 * its key id.
 * @throws VigieError `configuration.wrong` naming the file
 */
export function keysOfPem(texts: readonly { readonly pem: string; readonly where: string }[]): JWTVerifyGetKey {
  const keys = texts.map(({ pem, where }) => {
    // createPublicKey would also accept a private key, which must not be in a car.
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
