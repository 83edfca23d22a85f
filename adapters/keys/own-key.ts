import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import type { Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import { isReadFailure } from '../../protocol/read-failure.ts';
import { generateKey, readTrust } from './directory.ts';
import { CommandSigner } from './signer.ts';
import type { TrustedKey } from './trust-file.ts';

/** A key that the unit signs with itself. */
export interface OwnKey {
  readonly key: TrustedKey;
  readonly signer: CommandSigner;
}

/**
 * The unit's own key in `directory`, made at the first call: for commands that come to the car by other ways than the
 * broker. `kinds` is what it may command from now on. A directory that cannot be used is put aside, beside it, and
 * another key is made: only this unit trusts it. Undefined when the disk does not take that, which is logged, and must
 * not keep the agent from starting.
 * @throws VigieError `store.unreadable` when the disk does not return a file of the directory, which is left as it is
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

/** The path, or with a number behind it where there is something already. */
function free(path: string): string {
  let unused = path;
  for (let n = 2; existsSync(unused); n++) unused = `${path}.${n}`;
  return unused;
}
