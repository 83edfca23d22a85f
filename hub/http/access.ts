/** Access to a hub: tokens that the hub itself signs, for fleets and for users. */

import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type JWTPayload, SignJWT } from 'jose';
import type { Credentials, Gate, RequestedAccess } from '../../adapters/http/access/credentials.ts';
import { LocalGate } from '../../adapters/http/access/local.ts';
import { keysOfFiles, keysOfPem } from '../../adapters/http/access/token-keys.ts';
import { scopesOf, UserGate } from '../../adapters/http/access/user.ts';
import type { Caller } from '../../adapters/http/call.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Side } from '../../protocol/interface/operation.ts';
import { userScopes } from '../../protocol/interface/operations/scopes.ts';

/** Issuer and audience of the tokens. */
const HUB = 'vigie-hub';
/** Claim of the fleets that a token is for. */
const FLEETS = 'fleets';

/** Owner and rights of a token. */
export interface TokenGrant {
  /** Under this id the hub stores it. */
  readonly id: string;
  /** In the audit trail. */
  readonly name: string;
  /** Either fleets, or the user that is `name`. */
  readonly fleets?: readonly string[];
  /** Scopes of the token; `reservedScopes` only if it is for fleets. */
  readonly scopes: readonly string[];
  /** UTC ms. */
  readonly issued: number;
  readonly expires: number;
}

/**
 * Signs a token with the key in the file; makes the key if there is no file. Rejects with `usage.wrong` for a right that the
 * holder cannot have.
 */
export async function signToken(file: string, grant: TokenGrant): Promise<string> {
  const { id, name, fleets, scopes, issued, expires } = grant;
  const held = userScopes(new Set(scopes));
  const refused = fleets === undefined ? scopes.filter((scope) => !held.has(scope)) : [];
  if (refused.length > 0) throw new VigieError('usage.wrong', `only a token for fleets can have ${refused.join(', ')}`);
  const claims = { scope: scopes.join(' '), ...(fleets === undefined ? {} : { [FLEETS]: fleets }) };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA' })
    .setJti(id)
    .setIssuer(HUB)
    .setAudience(HUB)
    .setSubject(name)
    .setIssuedAt(Math.floor(issued / 1000))
    .setExpirationTime(Math.floor(expires / 1000))
    .sign(createPrivateKey(readTokenKey(file)));
}

interface HubGateParts {
  readonly side: Side;
  /** Whether there is a registry, and so access control; else the machine itself may do everything. */
  readonly inUse: () => Promise<boolean>;
  /** Whether the database has a token with this id that was not withdrawn. A signature alone is not enough. */
  readonly isIssued: (id: string) => Promise<boolean>;
  /** File of the key that signs tokens; {@link signToken}. */
  readonly keyFile: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Takes a token as Bearer, or as the password of HTTP Basic with any user name, so that a browser can ask for it. A
 * token for fleets is good on the fleet side, one for a user on the user side, both under `/vigie/v1`.
 */
export class HubGate implements Gate {
  readonly challenge = 'Bearer realm="vigie", Basic realm="vigie", charset="UTF-8"';
  readonly #parts: HubGateParts;
  readonly #local = new LocalGate();
  readonly #tokens: UserGate;

  /** @throws VigieError `input.unreadable`, `configuration.wrong` for a key that cannot be used */
  constructor(parts: HubGateParts) {
    this.#parts = parts;
    const { keyFile, clock, log } = parts;
    const keys = keysOfFiles({
      read: () => [publicOf(readTokenKey(keyFile))],
      make: ([pem = '']) => keysOfPem([{ pem, where: keyFile }]),
      clock,
      log,
    });
    this.#tokens = new UserGate({ issuer: HUB, audience: HUB, keys, claims }, clock);
  }

  async admit(credentials: Credentials, wanted: RequestedAccess): Promise<Caller> {
    if (!(await this.#parts.inUse())) return this.#local.admit(credentials);
    const caller = await this.#tokens.admit(asBearer(credentials), wanted);
    if (caller.token === undefined || !(await this.#parts.isIssued(caller.token))) throw withdrawn();
    if (this.#parts.side === 'user' && caller.user === undefined) {
      throw new VigieError('request.forbidden', 'this token is for fleets: the user side needs one for a user');
    }
    const fleet = wanted.path['fid'];
    if (fleet !== undefined && caller.fleets?.has(fleet) === false) {
      throw new VigieError('request.forbidden', 'fid: the caller may not see this fleet');
    }
    return caller;
  }
}

export function withdrawn(): VigieError {
  return new VigieError(
    'request.unauthenticated',
    'the token was withdrawn, or this hub has never issued it: ask for another one',
  );
}

/**
 * A token names its fleets, or is for the user that is its subject, who has no fleet. Only one for fleets may hold all
 * scopes; see {@link userScopes}.
 */
function claims(payload: JWTPayload): Partial<Caller> {
  const { sub, jti, [FLEETS]: fleets } = payload;
  const token = defined({ token: jti });
  if (fleets === undefined) return { ...token, fleets: new Set(), ...defined({ user: sub }) };
  const ids = Array.isArray(fleets) ? fleets.filter((one) => typeof one === 'string') : [];
  return { ...token, fleets: new Set(ids), scopes: scopesOf(payload) };
}

function asBearer(credentials: Credentials): Credentials {
  const [, encoded] = /^Basic +([A-Za-z0-9+/_-]+={0,2})$/i.exec(credentials.authorization ?? '') ?? [];
  if (encoded === undefined) return credentials;
  const text = Buffer.from(encoded, 'base64').toString();
  return { ...credentials, authorization: `Bearer ${text.slice(text.indexOf(':') + 1)}` };
}

/** Private key in PEM, made if absent. @throws VigieError `input.unreadable` */
function readTokenKey(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new VigieError('input.unreadable', (cause as Error).message, { where: file, cause });
    }
  }
  const { privateKey } = generateKeyPairSync('ed25519');
  const made = `${file}.${process.pid}`;
  try {
    writeFileSync(made, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    // If two hubs make it together, the first wins.
    linkSync(made, file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new VigieError('input.unreadable', (cause as Error).message, { where: file, cause });
    }
  } finally {
    rmSync(made, { force: true });
  }
  return readFileSync(file, 'utf8');
}

function publicOf(pem: string): string {
  return createPublicKey(pem).export({ type: 'spki', format: 'pem' }) as string;
}
