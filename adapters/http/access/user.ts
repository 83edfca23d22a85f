/** Access control of the user side: OAuth 2.0 bearer tokens (RFC 6750) that are JWTs (RFC 9068 except media type). */
import { createHash } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Clock } from '../../../agent/ports.ts';
import { withCertificateFault } from '../../../protocol/certificate-faults.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { lackOf, userScopes } from '../../../protocol/interface/operations/scopes.ts';
import type { Caller } from '../call.ts';
import { type Credentials, type Gate, type RequestedAccess, sameText } from './credentials.ts';

/** A client that needs another form of Status.energy, named in the query. */
export interface EnergyClient {
  readonly clientId: string;
  readonly energy: 'object' | 'list';
}

export interface UserAccess {
  readonly issuer: string;
  readonly audience: string;
  /** Finds the key of a token; see {@link ./token-keys.ts}. */
  readonly keys: JWTVerifyGetKey;
  /** Subjects that may use this car; undefined: all subjects of the issuer. */
  readonly subjects?: readonly string[];
  /** Accepted values of the query parameter `client_id`; undefined: any value. */
  readonly clientIds?: readonly string[];
  /** Form in which each client gets Status.energy, by the query parameter `client_id`. */
  readonly clients?: readonly EnergyClient[];
  /** Returns further properties of the caller, read from the token's claims. */
  readonly claims?: (payload: JWTPayload) => Partial<Caller>;
  /** Returns false while the car does not know the time and so cannot tell whether a token has expired. */
  readonly timeKnown?: () => boolean;
}

/** Accepted algorithms (RFC 7518 §3.1, RFC 8037), all public-key: a secret shared with cars could sign for all. */
const tokenAlgorithms = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];

/** Tolerated difference in s between the clocks of issuer and car. */
const TOLERANCE = 30;
/** Maximum number, and lifetime in ms, of cached verified tokens: keys and subjects may be withdrawn. */
const REMEMBERED = 256;
const REMEMBERED_FOR = 60_000;
const LONGEST_TOKEN = 8_192;

interface Checked {
  readonly caller: Caller & { readonly expires: number; readonly scopes: ReadonlySet<string> };
  /** Expiry in monotonic ms. */
  readonly until: number;
}

export class UserGate implements Gate {
  readonly challenge = 'Bearer realm="vigie"';
  readonly #access: UserAccess;
  readonly #clock: Clock;
  readonly #checked = new Map<string, Checked>();

  constructor(access: UserAccess, clock: Clock) {
    this.#access = access;
    this.#clock = clock;
  }

  async admit(credentials: Credentials, { operation }: RequestedAccess): Promise<Caller> {
    const token = readBearer(credentials.authorization);
    if (token === undefined) throw new VigieError('request.unauthenticated', 'needs a bearer token');
    if (this.#access.timeKnown?.() === false) {
      throw new VigieError('request.unauthenticated', 'the car does not know the time yet: no token can be checked');
    }
    const caller = await this.#recognise(token);
    this.#requireClient(credentials.clientIds);
    const lack = lackOf(operation.scopes, caller.scopes);
    if (lack !== undefined) throw new VigieError('request.forbidden', lack);
    const [clientId, ...others] = credentials.clientIds;
    const client = others.length > 0 ? undefined : this.#access.clients?.find((one) => one.clientId === clientId);
    return client === undefined ? caller : { ...caller, energy: client.energy };
  }

  #requireClient([clientId = '', ...others]: readonly string[]): void {
    const { clientIds } = this.#access;
    if (clientIds === undefined) return;
    if (others.length > 0 || !clientIds.some((one) => sameText(one, clientId))) {
      throw new VigieError('request.unauthenticated', 'client_id is wrong');
    }
  }

  async #recognise(token: string): Promise<Checked['caller']> {
    const name = createHash('sha256').update(token).digest('base64url');
    const known = this.#checked.get(name);
    if (known !== undefined && this.#clock.monotonic() < known.until && this.#clock.now() < known.caller.expires) {
      return known.caller;
    }
    const payload = await this.#check(token);
    const { subjects } = this.#access;
    const subject = payload.sub ?? '';
    if (subject === '' || (subjects !== undefined && !subjects.includes(subject))) {
      throw new VigieError('request.forbidden', 'the subject of the token may not use this car');
    }
    const expires = ((payload.exp ?? 0) + TOLERANCE) * 1000;
    const scopes = userScopes(scopesOf(payload));
    const caller = { name: subject, scopes, expires, ...this.#access.claims?.(payload) };
    this.#remember(name, caller);
    return caller;
  }

  async #check(token: string): Promise<JWTPayload> {
    try {
      return await this.#verify(token);
    } catch (cause) {
      // If the issuer's keys could not be fetched, the token has not been proven invalid.
      if (!(cause instanceof errors.JOSEError) || unavailable(cause)) {
        const server = { server: 'the issuer', authority: 'NODE_EXTRA_CA_CERTS' };
        const text = withCertificateFault('the keys of the issuer cannot be had', cause, server);
        throw new VigieError('internal', text, { cause });
      }
      throw new VigieError('request.unauthenticated', `the token is not valid: ${reasonOf(cause)}`, { cause });
    }
  }

  async #verify(token: string): Promise<JWTPayload> {
    const { issuer, audience, keys } = this.#access;
    const options = {
      issuer,
      audience,
      algorithms: tokenAlgorithms,
      clockTolerance: TOLERANCE,
      currentDate: new Date(this.#clock.now()),
      requiredClaims: ['exp'],
    };
    try {
      return (await jwtVerify(token, keys, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // The token names no key and several keys fit: while the issuer rotates its key, either may be right.
      for await (const key of error) {
        const verified = await jwtVerify(token, key, options).catch(onlySignature);
        if (verified !== undefined) return verified.payload;
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  #remember(name: string, caller: Checked['caller']): void {
    const [oldest] = this.#checked.keys();
    if (this.#checked.size >= REMEMBERED && oldest !== undefined) this.#checked.delete(oldest);
    // Insert at the end, so that the first entry is the oldest.
    this.#checked.delete(name);
    const until = this.#clock.monotonic() + REMEMBERED_FOR;
    this.#checked.set(name, { caller, until });
  }
}

function readBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length > LONGEST_TOKEN) return undefined;
  return /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1];
}

/** Returns `scope` (RFC 8693 §4.2) or `scp`, which some issuers use: a space-separated string or a list. */
export function scopesOf(payload: JWTPayload): ReadonlySet<string> {
  const given = payload['scope'] ?? payload['scp'];
  if (typeof given === 'string') return new Set(given.split(' ').filter((scope) => scope !== ''));
  return new Set(Array.isArray(given) ? given.filter((scope) => typeof scope === 'string') : []);
}

function onlySignature(error: unknown): undefined {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
}

/** Returns true if fetching the keys failed, so that the token itself was not checked. */
function unavailable(error: errors.JOSEError): boolean {
  return ['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'].includes(error.code);
}

/** Returns the reason why a token is invalid, without quoting the token. */
function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return `its claim ${error.claim} is missing or not the one expected`;
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not taken';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  if (error instanceof errors.JWKSNoMatchingKey) return 'its key is not known';
  return 'it is not a signed JWT';
}
