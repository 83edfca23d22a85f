/** Retries what needs a sound file or a free port, while the rest of the agent works. */
import type { CallbackChannels } from '../adapters/callbacks/index.ts';
import type { TrustStore } from '../adapters/keys/index.ts';
import type { Clock, Log } from '../agent/ports.ts';
import { type ErrorCode, VigieError } from '../protocol/errors.ts';
import type { CarService } from './service.ts';

/** Time between attempts, ms. */
const AGAIN = 60_000;

interface Retry {
  /** Logs the part that does not work meanwhile. */
  readonly event: 'callbacks.limited' | 'http.unavailable' | 'trust.unavailable';
  /** Reads files, and does what is to be done with them. */
  readonly attempt: () => void | Promise<void>;
  /** Called with the fault, and with undefined after it has ended. */
  readonly trouble: (what: string | undefined) => void;
  /** Codes of errors after which the attempt is repeated; default: those of files. */
  readonly retried?: readonly ErrorCode[];
  readonly clock: Clock;
  readonly log: Log;
}

/** A file that is missing, unreadable or damaged. */
const FILES: readonly ErrorCode[] = ['configuration.wrong', 'input.unreadable'];

/**
 * Makes the attempt and resolves after it. An error that can be fixed meanwhile, such as a missing or damaged file, is logged once,
 * and the attempt is made again every minute until it succeeds. Rejects with everything else that the first rejects with.
 * @returns ends it; resolves when no attempt is under way any more
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

/** Dependencies of a repeated attempt. */
interface KeepOptions {
  /** Shows the reason to `vigie status` and the metrics. */
  readonly service: Pick<CarService, 'lacks'> | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Has the keys of the trust file obeyed, as soon as they can be read. Keys that were added by command are obeyed, and
 * those that were revoked are not, whatever becomes of the file.
 * @returns ends it
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
 * Says what keeps notifications from being sent, until it is fixed; they wait meanwhile.
 * @returns ends it
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
