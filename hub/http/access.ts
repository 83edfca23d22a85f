/** Access to a hub with tokens that the hub signs, for fleets and users. */

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type JWTPayload, type JWTVerifyGetKey, SignJWT } from 'jose';
import type { Credentials, Gate, RequestedAccess } from '../../adapters/http/access/credentials.ts';
import { LocalGate } from '../../adapters/http/access/local.ts';
import { keysOfFiles, keysOfPem } from '../../adapters/http/access/token-keys.ts';
import { type EnergyClient, scopesOf, UserGate } from '../../adapters/http/access/user.ts';
import type { Caller } from '../../adapters/http/call.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Side } from '../../protocol/interface/operation.ts';
import { userScopes } from '../../protocol/interface/operations/scopes.ts';

/** Issuer and audience of the tokens. */
const HUB = 'vigie-hub';
/** Claim with the fleets of a token. */
const FLEETS = 'fleets';

/** Owner and rights of a token. */
export interface TokenGrant {
  /** Id under which the hub stores the token. */
  readonly id: string;
  /** Name in the audit trail. */
  readonly name: string;
  /** Fleets of the token. If omitted, the token is for the user `name`. */
  readonly fleets?: readonly string[];
  /** Scopes of the token. `reservedScopes` are allowed only if it is for fleets. */
  readonly scopes: readonly string[];
  /** UTC ms. */
  readonly issued: number;
  readonly expires: number;
}

/** A private key that signs tokens. */
export interface TokenSigner {
  readonly key: KeyObject;
  /** Id of the key, which its tokens contain. Omitted if there is only one key. */
  readonly id?: string;
}

/** Keys that sign and verify tokens. */
export interface TokenKeys {
  /** Returns the key that signs now. Rejects if it cannot be read. */
  signer(): Promise<TokenSigner>;
  /** Finds the public key of a token. */
  readonly verifier: JWTVerifyGetKey;
}

/** Signs a token. Rejects with `usage.wrong` if the holder cannot have one of the rights. */
export async function signToken({ key, id: kid }: TokenSigner, grant: TokenGrant): Promise<string> {
  const { id, name, fleets, scopes, issued, expires } = grant;
  const held = userScopes(new Set(scopes));
  const refused = fleets === undefined ? scopes.filter((scope) => !held.has(scope)) : [];
  if (refused.length > 0) throw new VigieError('usage.wrong', `only a token for fleets can have ${refused.join(', ')}`);
  const claims = { scope: scopes.join(' '), ...(fleets === undefined ? {} : { [FLEETS]: fleets }) };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', ...defined({ kid }) })
    .setJti(id)
    .setIssuer(HUB)
    .setAudience(HUB)
    .setSubject(name)
    .setIssuedAt(Math.floor(issued / 1000))
    .setExpirationTime(Math.floor(expires / 1000))
    .sign(key);
}

interface HubGateParts {
  readonly side: Side;
  /** Returns true if there is a registry, and therefore access control. Otherwise this machine has full access. */
  readonly inUse: () => Promise<boolean>;
  /** Returns true if the database has a token with this id that was not withdrawn. A signature is not sufficient. */
  readonly isIssued: (id: string) => Promise<boolean>;
  readonly keys: JWTVerifyGetKey;
  readonly clients?: readonly EnergyClient[] | undefined;
  readonly clock: Clock;
}

/**
 * Accepts a token as Bearer, or as the password of HTTP Basic with any user name, so that a browser can ask for it. A
 * token for fleets is valid on the fleet side of the interface, a token for a user on the user side, and both under
 * `/vigie/v1`.
 */
export class HubGate implements Gate {
  readonly challenge = 'Bearer realm="vigie", Basic realm="vigie", charset="UTF-8"';
  readonly #parts: HubGateParts;
  readonly #local = new LocalGate();
  readonly #tokens: UserGate;

  constructor(parts: HubGateParts) {
    this.#parts = parts;
    const { keys, clients, clock } = parts;
    this.#tokens = new UserGate({ issuer: HUB, audience: HUB, keys, claims, ...defined({ clients }) }, clock);
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
 * Reads the claims of a token. It contains its fleets; if it is for a user, its subject is the user and it contains no
 * fleet. Only a token for fleets may have all scopes; see {@link userScopes}.
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

/**
 * Returns the keys of a hub that keeps its only key in a file, and generates the file if it is missing.
 * @throws VigieError `input.unreadable`, or `configuration.wrong` if the key is not usable
 */
export function tokenKeysInFile(file: string, { clock, log }: { readonly clock: Clock; readonly log: Log }): TokenKeys {
  return {
    signer: async () => ({ key: createPrivateKey(readTokenKey(file)) }),
    verifier: keysOfFiles({
      read: () => [publicOf(readTokenKey(file))],
      make: ([pem = '']) => keysOfPem([{ pem, where: file }]),
      clock,
      log,
    }),
  };
}

/** Reads the private key in PEM. Generates it if missing. @throws VigieError `input.unreadable` */
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
    // If two hubs generate the key at the same time, the first one wins.
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
