import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import type { Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { isReadFailure } from '../../protocol/read-failure.ts';
import { generateKey, readTrust } from './directory.ts';
import { CommandSigner } from './signer.ts';
import type { TrustedKey } from './trust-file.ts';

/** A key with which the unit itself signs. */
export interface OwnKey {
  readonly key: TrustedKey;
  readonly signer: CommandSigner;
}

/**
 * Returns the unit's own key in `directory`, created at the first call. It signs commands that reach the car without
 * the broker. `kinds`: kinds of command that it may sign from now on. If the directory is unusable, renames it and
 * creates another key, since only this unit trusts it. Returns undefined if the disk fails to store the key; this is
 * logged and must not prevent the start of the agent.
 * @throws VigieError `store.unreadable` if the disk fails to read a file in the directory, which stays unchanged
 */
export async function ownKey(
  directory: string,
  name: string,
  kinds: readonly string[],
  log: Log,
): Promise<OwnKey | undefined> {
  try {
    return await open(directory, name, kinds);
  } catch (error) {
    if (error instanceof VigieError && error.code === 'input.unreadable' && isReadFailure(error)) {
      const where = error.where ?? directory;
      throw new VigieError('store.unreadable', 'the disk does not return the key', { where, cause: error });
    }
    log.error('ownKey.damaged', { error: (error as Error).message });
  }
  try {
    if (existsSync(directory)) await rename(directory, free(`${directory}.damaged`));
    return await open(directory, name, kinds);
  } catch (error) {
    log.error('ownKey.missing', { error: (error as Error).message });
    return undefined;
  }
}

async function open(directory: string, name: string, kinds: readonly string[]): Promise<OwnKey> {
  if (!(await readTrust(directory)).some((key) => key.name === name)) {
    await generateKey(directory, name, { algorithm: 'Ed25519', kinds });
  }
  const key = (await readTrust(directory)).find((known) => known.name === name) as TrustedKey;
  return { key: { ...key, kinds }, signer: await CommandSigner.open(directory, name) };
}

/** Returns the path; if it exists, the path with a number appended. */
function free(path: string): string {
  let unused = path;
  for (let n = 2; existsSync(unused); n++) unused = `${path}.${n}`;
  return unused;
}
