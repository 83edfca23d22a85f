/** What waits until files are mended, or a port is free, while the rest of the agent does its work. */
import type { CallbackChannels } from '../adapters/callbacks/index.ts';
import type { TrustStore } from '../adapters/keys/index.ts';
import type { Clock, Log } from '../agent/ports.ts';
import { type ErrorCode, VigieError } from '../protocol/errors.ts';
import type { CarService } from './service.ts';

/** After this it is tried again with what may have been mended, ms. */
const AGAIN = 60_000;

export interface Mending {
  /** What the agent does without meanwhile, for the log, e.g. `the interface is not served`. */
  readonly without: string;
  /** Reads files, and does what is to be done with them. */
  readonly attempt: () => void | Promise<void>;
  /** Told what is wrong, and undefined when nothing is. */
  readonly trouble: (what: string | undefined) => void;
  /** Codes of errors that can be mended while the agent runs; default: those of files. */
  readonly mendable?: readonly ErrorCode[];
  readonly clock: Clock;
  readonly log: Log;
}

/** A file that is missing, unreadable or damaged. */
const FILES: readonly ErrorCode[] = ['configuration.wrong', 'input.unreadable'];

/**
 * Makes the attempt and resolves after it. What can be mended, such as a file that is missing or damaged, is said once,
 * and the attempt is made again every minute until it succeeds. Rejects with everything else that the first rejects with.
 * @returns ends it; resolves when no attempt is under way any more
 */
export async function untilMended(mending: Mending): Promise<() => Promise<void>> {
  const { without, attempt, trouble, mendable = FILES, clock, log } = mending;
  let said: string | undefined;
  let stopped = false;
  let cancel: () => void = () => undefined;
  let underWay: Promise<void> = Promise.resolve();
  const make = async (first: boolean): Promise<void> => {
    try {
      await attempt();
      trouble(undefined);
      if (said !== undefined) log.info('what was wrong is mended', { was: without });
    } catch (error) {
      if (first && !(error instanceof VigieError && mendable.includes(error.code))) throw error;
      const { message } = error as Error;
      if (message !== said) log.error(`${without}; it is tried again`, { error: message });
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

/** What those need that keep at it. */
export interface Keeping {
  /** Whoever asks is told there. */
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
  { service, clock, log }: Keeping,
): Promise<() => Promise<void>> {
  return untilMended({
    without: 'the keys that are to be trusted are not known: their commands are refused',
    attempt: () => keys.take(path),
    trouble: (what) => service?.lacks('trust', keys.unconfirmed ?? what),
    clock,
    log,
  });
}

/**
 * Says what keeps notifications from being sent, until it is mended; they wait meanwhile.
 * @returns ends it
 */
export function keepChannels(
  notificationChannels: CallbackChannels,
  { service, clock, log }: Keeping,
): Promise<() => Promise<void>> {
  return untilMended({
    without: 'not all notifications can be sent',
    attempt: () => notificationChannels.inspect(),
    trouble: (what) => service?.lacks('callbacks', what),
    clock,
    log,
  });
}
