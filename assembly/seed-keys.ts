import { type KeyHooks, keyPrograms, simpleKeys } from '../adapters/obd/uds/index.ts';
import type { Environment } from '../config/environment.ts';
import type { VigieError } from '../protocol/errors.ts';

/**
 * Returns functions that compute keys for control units: built-in simple ones, and programs in the folder
 * $VIGIE_SEED_KEYS. Configurations and profiles cannot name that folder, because a remote sender must not choose
 * programs to start.
 */
export function seedKeys(environment: Environment): { hooks: KeyHooks; problems: readonly VigieError[] } {
  const folder = environment['VIGIE_SEED_KEYS'];
  if (folder === undefined || folder === '') return { hooks: simpleKeys, problems: [] };
  const { hooks, problems } = keyPrograms(folder);
  return { hooks: new Map([...hooks, ...simpleKeys]), problems };
}
