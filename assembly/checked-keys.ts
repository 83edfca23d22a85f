import { TrustStore } from '../adapters/keys/index.ts';
import { unreadable } from '../config/buses.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { VigieError } from '../protocol/errors.ts';
import { channelsOf } from './callback-channels.ts';

/**
 * Returns the faults in the contents of a configuration's key files. A file that cannot be read is not among them: the
 * check of the configuration itself reports it.
 * @param severity `warning` if the agent can run without the keys until they are fixed
 */
export function checkKeys(
  { file, commands, callbacks }: Configuration,
  severity: 'error' | 'warning',
): readonly Diagnostic[] {
  const clock = { now: () => 0 };
  const find = (place: string, check: () => void): Diagnostic[] => {
    try {
      check();
      return [];
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      const { code, where, message } = error;
      if (code === 'input.unreadable' && where !== undefined && unreadable(where) !== undefined) return [];
      return [{ file: place, line: 0, severity, message: where === place ? message.slice(place.length + 2) : message }];
    }
  };
  return [
    ...(commands === undefined ? [] : find(commands.trust, () => void TrustStore.open(commands.trust, clock))),
    ...find(file, () => channelsOf(callbacks, clock.now).inspect()),
  ];
}
