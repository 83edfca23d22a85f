/** Sign-in of people to the page of a hub, at the identity provider of hub.yaml. */

import type { Router } from '../../adapters/http/routes.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { readSecret } from '../../config/credentials.ts';
import type { SignInConfiguration } from '../../config/hub.ts';
import { defined } from '../../protocol/defined.ts';
import { userScopes } from '../../protocol/interface/operations/scopes.ts';
import type { Registry } from '../core/registry.ts';
import type { RegistryStates } from '../core/registry-state.ts';
import type { TokenKeys } from '../http/access.ts';
import { SIGN_IN, SignIn } from '../http/sign-in.ts';
import { issueAccess } from './access.ts';

interface SignInOptions {
  readonly states: RegistryStates;
  readonly registry: Registry;
  readonly keys: Pick<TokenKeys, 'signer'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Validity of the token after a sign-in, in ms: a working day. */
const LASTS = 8 * 3_600_000;

/** @throws VigieError `input.unreadable` if a secret cannot be read */
export function signInAt(
  { clientSecretFile, permits, ...provider }: SignInConfiguration,
  { states, registry, keys, clock, log }: SignInOptions,
): { readonly address: string; readonly add: (router: Router) => void } {
  // A sign-in never grants a right that users cannot hold; only `vigie hub token` grants such a right.
  const scopes = [...userScopes(new Set(permits))];
  const signIn = new SignIn({
    provider: {
      ...provider,
      ...(clientSecretFile === undefined ? {} : { clientSecret: readSecret(clientSecretFile) }),
    },
    fleets: async () => (await states.current()).fleets.map(({ id }) => id),
    isUser: async (id) => (await states.current()).carsOf({ kind: 'user', id }).size > 0,
    token: (name, fleets) => {
      const issued = clock.now();
      const whose = defined({ fleets });
      return issueAccess(keys, registry, { name, ...whose, scopes, issued, expires: issued + LASTS });
    },
    clock,
    log,
  });
  return { address: SIGN_IN, add: (router) => signIn.add(router) };
}
