/**
 * Sign-in of people at an identity provider: the OpenID Connect code flow with PKCE (RFC 7636). The provider reports a
 * person and that person's groups. A group with the name of a fleet grants access to this fleet, and a subject of the
 * provider is a user of the hub. The page then receives a token that the hub itself issues.
 */

import { randomBytes } from 'node:crypto';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { headerOf, type RequestContext, respond } from '../../adapters/http/exchange.ts';
import { isLoopback } from '../../adapters/http/hosts.ts';
import type { Router } from '../../adapters/http/routes.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { withCertificateFault } from '../../protocol/certificate-faults.ts';
import { defined } from '../../protocol/defined.ts';

interface IdentityProvider {
  /** Address of the provider, and `iss` of its tokens. */
  readonly issuer: string;
  readonly clientId: string;
  /** If omitted, the hub is a public client, which is protected only by PKCE. */
  readonly clientSecret?: string;
  /** Requested scopes. */
  readonly scope: string;
  /** Claim that contains the names of groups. */
  readonly groups: string;
}

interface SignInParts {
  readonly provider: IdentityProvider;
  /** Returns the fleets of the hub. */
  readonly fleets: () => Promise<readonly string[]>;
  /** Returns true if a car belongs to the user. */
  readonly isUser: (id: string) => Promise<boolean>;
  /** Issues a token of the hub for these fleets; without fleets, for the user `name`. */
  readonly token: (name: string, fleets?: readonly string[]) => Promise<string>;
  readonly clock: Clock;
  readonly log: Log;
}

export const SIGN_IN = '/vigie/v1/sign-in';
const BACK = '/vigie/v1/signed-in';
const COOKIE = 'vigie-sign-in';
/** Cookie that shows the page's script that an outcome is ready. The script must not read the other cookie. */
const MARK = 'vigie-signed-in';
/** Time in ms within which a person must sign in at the provider. */
const PATIENCE = 600_000;
/** Largest number of sign-ins in progress. If there are more, the oldest is dropped. */
const MOST = 1_000;
const LONGEST_NAME = 128;

interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Outcome of a sign-in, sent to the page once. */
type Outcome = { readonly token: string } | { readonly fault: string };

interface Visit {
  /** Expiry in monotonic ms. */
  readonly until: number;
  readonly what: Begun | Outcome;
}

export class SignIn {
  readonly #parts: SignInParts;
  readonly #visits = new Map<string, Visit>();
  #configuration: Promise<Configuration> | undefined;

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  /** Adds the routes. They need no credentials. */
  add(router: Router): void {
    router.add('GET', SIGN_IN, (context) => this.#begin(context), { stream: true });
    router.add('GET', BACK, (context) => this.#end(context), { stream: true });
    router.add('POST', BACK, (context) => this.#hand(context));
  }

  async #begin(context: RequestContext): Promise<Response> {
    const { exchange } = context.env;
    const begun = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    try {
      const { provider } = this.#parts;
      const address = buildAuthorizationUrl(await this.#discover(), {
        redirect_uri: `${exchange.origin}${BACK}`,
        scope: provider.scope,
        code_challenge: await calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: 'S256',
        state: begun.state,
        nonce: begun.nonce,
      });
      return this.#leave(context, address.href, begun);
    } catch (error) {
      return this.#fail(context, 'the identity provider cannot be reached', error);
    }
  }

  async #end(context: RequestContext): Promise<Response> {
    const { exchange } = context.env;
    const visit = this.#take(context);
    if (visit === undefined || !('verifier' in visit)) {
      return this.#fail(context, 'this sign-in took too long, or began in another browser: begin again');
    }
    try {
      const configuration = await this.#discover();
      const address = new URL(`${exchange.origin}${exchange.target.path}?${exchange.target.query}`);
      const granted = await authorizationCodeGrant(configuration, address, {
        pkceCodeVerifier: visit.verifier,
        expectedState: visit.state,
        expectedNonce: visit.nonce,
        idTokenExpected: true,
      });
      const claims = granted.claims() as Readonly<Record<string, unknown>> & { readonly sub: string };
      const { groups } = this.#parts.provider;
      // Some providers send groups in the ID token, others only on request (OpenID Connect Core §5.3).
      const all = groups in claims ? claims : await fetchUserInfo(configuration, granted.access_token, claims.sub);
      return await this.#admit(context, { ...all, sub: claims.sub }, all[groups]);
    } catch (error) {
      return this.#fail(context, 'the identity provider did not sign you in', error);
    }
  }

  async #admit(
    context: RequestContext,
    { sub, email }: { readonly sub: string; readonly email?: unknown },
    groups: unknown,
  ): Promise<Response> {
    const name = (typeof email === 'string' ? email : sub).slice(0, LONGEST_NAME);
    const named = new Set(Array.isArray(groups) ? groups : []);
    const fleets = (await this.#parts.fleets()).filter((fleet) => named.has(fleet));
    if (fleets.length > 0) {
      this.#parts.log.info('hub.signedIn', { name, fleets });
      return this.#leave(context, '/', { token: await this.#parts.token(name, fleets) });
    }
    // OpenID Connect Core §5.7: only `sub` always identifies the same person. An e-mail address may pass to another
    // person.
    if (await this.#parts.isUser(sub)) {
      this.#parts.log.info('hub.signedIn', { name, user: sub });
      return this.#leave(context, '/', { token: await this.#parts.token(sub) });
    }
    const { groups: claim } = this.#parts.provider;
    const fault = `the identity provider names no fleet of this hub for ${name} (claim ${claim})`;
    return this.#fail(context, `${fault}, and no car belongs to the user ${sub.slice(0, LONGEST_NAME)}`);
  }

  /** Returns the outcome to the page once. */
  async #hand(context: RequestContext): Promise<Response> {
    const visit = this.#take(context);
    const answer = visit === undefined || 'verifier' in visit ? { fault: 'begin to sign in again' } : visit;
    const gone = `Path=/; Max-Age=0; SameSite=Lax`;
    const headers = { 'Content-Type': 'application/json' };
    return respond(context.env, 200, JSON.stringify(answer), headers, [`${COOKIE}=; ${gone}`, `${MARK}=; ${gone}`]);
  }

  #fail(context: RequestContext, fault: string, error?: unknown): Response {
    const cause =
      error instanceof Error
        ? withCertificateFault(
            `${error.message}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}`,
            error,
            { server: 'the identity provider', authority: 'NODE_EXTRA_CA_CERTS' },
          )
        : undefined;
    this.#parts.log.warn('hub.signInFailed', { fault, ...defined({ error: cause }) });
    return this.#leave(context, '/', { fault });
  }

  /** Redirects the browser. `what` stays in the hub; the browser stores only cookies. */
  #leave(context: RequestContext, address: string, what: Visit['what']): Response {
    const id = randomBytes(32).toString('base64url');
    const now = this.#parts.clock.monotonic();
    for (const [old, { until }] of this.#visits) {
      if (until > now && this.#visits.size < MOST) break;
      this.#visits.delete(old);
    }
    this.#visits.set(id, { until: now + PATIENCE, what });
    const { origin } = context.env.exchange;
    const attributes = `Path=/; Max-Age=${PATIENCE / 1_000}; SameSite=Lax${origin.startsWith('https:') ? '; Secure' : ''}`;
    const cookies = [
      `${COOKIE}=${id}; ${attributes}; HttpOnly`,
      ...('verifier' in what ? [] : [`${MARK}=1; ${attributes}`]),
    ];
    return respond(context.env, 303, undefined, { Location: address }, cookies);
  }

  #take(context: RequestContext): Visit['what'] | undefined {
    const [, id = ''] =
      new RegExp(`(?:^|; *)${COOKIE}=([\\w-]+)`).exec(headerOf(context.env.incoming, 'cookie') ?? '') ?? [];
    const visit = this.#visits.get(id);
    this.#visits.delete(id);
    return visit === undefined || visit.until < this.#parts.clock.monotonic() ? undefined : visit.what;
  }

  /** Loads the configuration of the provider once, and again after a failure. */
  #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#parts.provider;
    const address = new URL(issuer);
    const options = isLoopback(address.hostname) ? { execute: [allowInsecureRequests] } : {};
    this.#configuration ??= discovery(address, clientId, clientSecret, undefined, options).catch((error: unknown) => {
      this.#configuration = undefined;
      throw error;
    });
    return this.#configuration;
  }
}
