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
 * broker. `kinds` is what it may command from now on. Rejects as `generateKey` and `CommandSigner.open` do.
 */
export async function ownKey(directory: string, name: string, kinds: readonly string[]): Promise<OwnKey> {
  if (!(await readTrust(directory)).some((key) => key.name === name)) {
    await generateKey(directory, name, { algorithm: 'Ed25519', kinds });
  }
  const key = (await readTrust(directory)).find((known) => known.name === name) as TrustedKey;
  return { key: { ...key, kinds }, signer: await CommandSigner.open(directory, name) };
}
