/** Access rights of clients at the broker of a hub. */
import { createHash, X509Certificate } from 'node:crypto';
import { sameText } from '../../adapters/http/access/credentials.ts';
import type { ClientRights, EmbeddedBroker, ShownIdentity } from '../../adapters/mqtt/index.ts';
import type { Clock } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { HubLog } from '../core/ports.ts';
import type { Registry } from '../core/registry.ts';
import type { RegistryState, RegistryStates } from '../core/registry-state.ts';

/** Time in ms between two checks of the registry. A removed car is disconnected within this time. */
const LOOK = 1_000;

/** Returns the rights of a client. Without a registry, all rights; otherwise a registered car may use its own VIN. */
export function clientRights(
  states: RegistryStates,
  registry: Pick<Registry, 'password' | 'certificate' | 'isForgotten'>,
): (shown: ShownIdentity) => Promise<ClientRights> {
  return async ({ username: vin, password, certificate }) => {
    const state = await states.current();
    if (!state.inUse) return 'all';
    if (certificate !== undefined) {
      const serial = new X509Certificate(certificate).serialNumber.toLowerCase();
      const known = await registry.certificate(serial);
      if (known !== undefined && known.revoked === undefined) return active(state, known.vin);
      throw new VigieError('request.forbidden', `the certificate ${serial} was revoked`);
    }
    if (vin !== undefined && password !== undefined) {
      const known = await registry.password(vin);
      if (known === undefined && (await registry.isForgotten(vin))) {
        throw new VigieError('request.forbidden', `the car ${vin} was forgotten: vigie hub add lets it in again`);
      }
      if (known === undefined || !sameText(digestOf(password), known)) {
        throw new VigieError('request.unauthenticated', 'user name (the VIN) or password is wrong');
      }
      return active(state, vin);
    }
    throw new VigieError('request.unauthenticated', 'shows neither a certificate of this hub nor a password');
  };
}

/**
 * Returns the digest of a password from `vigie hub add --password`. The password is as long as a key, so a slow hash
 * would have no benefit.
 */
export function digestOf(password: string): string {
  return createHash('sha256').update(password).digest('hex');
}

/** Shortest time in ms between two log lines for the same client and reason. */
const REFUSALS_LOGGED_AFTER_MS = 600_000;
/** Largest number of remembered pairs of client and reason. */
const MAX_REFUSALS = 1_000;

/** Returns a function that logs refused clients, each pair of client and reason at most once in ten minutes. */
export function refusalLog(clock: Pick<Clock, 'monotonic'>, log: HubLog): (client: string, reason: string) => void {
  const logged = new Map<string, number>();
  return (client, reason) => {
    const [key, now] = [`${client} ${reason}`, clock.monotonic()];
    if (now - (logged.get(key) ?? Number.NEGATIVE_INFINITY) < REFUSALS_LOGGED_AFTER_MS) return;
    logged.delete(key);
    logged.set(key, now);
    const [oldest] = logged.keys();
    if (logged.size > MAX_REFUSALS && oldest !== undefined) logged.delete(oldest);
    log.warn('hub.client.refused', { client, reason });
  };
}

function active(state: RegistryState, vin: string): ClientRights {
  if (state.isActive(vin)) return { vin };
  throw new VigieError('request.forbidden', `the car ${vin} is not registered, or was removed`);
}

interface WatchParts {
  readonly states: RegistryStates;
  readonly clock: Clock;
  readonly log: HubLog;
}

/** Ends the connections of cars that any command or hub removed. @returns a function that stops the checks */
export function watchRegistry(parts: WatchParts, broker: Pick<EmbeddedBroker, 'endClients'>): () => Promise<void> {
  return onChanges(parts, async (state) => {
    if (state.inUse) broker.endClients((rights) => rights !== 'all' && state.isActive(rights.vin));
  });
}

/**
 * Calls `changed` now and after each change of the registry. Retries if it fails. @returns a function that stops the
 * checks
 */
export function onChanges(
  { states, clock, log }: WatchParts,
  changed: (state: RegistryState) => Promise<void>,
): () => Promise<void> {
  let seen: number | undefined;
  let stopped = false;
  let cancel: () => void = () => undefined;
  let looking: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    try {
      const state = await states.current();
      if (state.version !== seen) await changed(state);
      seen = state.version;
    } catch (error) {
      log.warn('hub.registry.unread', { error: (error as Error).message });
    }
    if (stopped) return;
    cancel = clock.after(LOOK, () => {
      looking = look();
    });
  };
  looking = look();
  return async () => {
    stopped = true;
    cancel();
    await looking;
  };
}
