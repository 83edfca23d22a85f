/** Retries operations that need a valid file or a free port, while the rest of the agent works. */
import type { CallbackChannels } from '../adapters/callbacks/index.ts';
import type { TrustStore } from '../adapters/keys/index.ts';
import type { Clock, Log } from '../agent/ports.ts';
import { type ErrorCode, VigieError } from '../protocol/errors.ts';
import type { CarService } from './service.ts';

/** Delay between attempts in ms. */
const AGAIN = 60_000;

interface Retry {
  /** Log event for the part that does not work meanwhile. */
  readonly event: 'callbacks.limited' | 'http.unavailable' | 'trust.unavailable';
  /** Reads files and applies them. */
  readonly attempt: () => void | Promise<void>;
  /** Called with the fault, and with undefined once it has ended. */
  readonly trouble: (what: string | undefined) => void;
  /** Error codes after which it is retried; default: those of faulty files. */
  readonly retried?: readonly ErrorCode[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Codes for a missing, unreadable or damaged file. */
const FILES: readonly ErrorCode[] = ['configuration.wrong', 'input.unreadable'];

/**
 * Makes the attempt and resolves after it. If the error is one that a person can fix meanwhile, such as a missing or
 * damaged file, logs it once and retries every minute until it succeeds. Rejects with any other error of the first
 * attempt.
 * @returns the function that ends the retries; it resolves when no attempt is running
 */
export async function retryUntilSound(retry: Retry): Promise<() => Promise<void>> {
  const { event, attempt, trouble, retried = FILES, clock, log } = retry;
  let said: string | undefined;
  let stopped = false;
  let cancel: () => void = () => undefined;
  let underWay: Promise<void> = Promise.resolve();
  const make = async (first: boolean): Promise<void> => {
    try {
      await attempt();
      trouble(undefined);
      if (said !== undefined) log.info('retry.succeeded', { was: event });
    } catch (error) {
      if (first && !(error instanceof VigieError && retried.includes(error.code))) throw error;
      const { message } = error as Error;
      if (message !== said) log.error(event, { error: message });
      said = message;
      trouble(message);
      if (stopped) return;
      cancel = clock.after(AGAIN, () => {
        underWay = make(false);
      });
    }
  };
  await make(true);
  return async () => {
    stopped = true;
    cancel();
    await underWay;
  };
}

/** Dependencies of operations that are retried. */
interface KeepOptions {
  /** Shows the fault in `vigie status` and the metrics. */
  readonly service: Pick<CarService, 'lacks'> | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Applies the keys in the trust file as soon as they can be read. Whatever state the file is in, commands signed with
 * keys that were added by command are accepted, and those signed with revoked keys are rejected.
 * @returns the function that ends the retries
 */
export function keepTrust(
  keys: TrustStore,
  path: string,
  { service, clock, log }: KeepOptions,
): Promise<() => Promise<void>> {
  return retryUntilSound({
    event: 'trust.unavailable',
    attempt: () => keys.take(path),
    trouble: (what) => service?.lacks('trust', keys.unconfirmed ?? what),
    clock,
    log,
  });
}

/**
 * Reports why notifications cannot be sent, until that is fixed; notifications wait meanwhile.
 * @returns the function that ends the retries
 */
export function keepChannels(
  notificationChannels: CallbackChannels,
  { service, clock, log }: KeepOptions,
): Promise<() => Promise<void>> {
  return retryUntilSound({
    event: 'callbacks.limited',
    attempt: () => notificationChannels.inspect(),
    trouble: (what) => service?.lacks('callbacks', what),
    clock,
    log,
  });
}
