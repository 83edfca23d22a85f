/** Keys of tokens for tests. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { TokenKeys, TokenSigner } from '../../hub/http/access.ts';
import { tokenKeysOf } from '../../hub/start/group-keys.ts';
import { type HubPlace, openRegistry } from '../../hub/start/registry.ts';
import { MemoryLog } from '../rig/log.ts';

/** Returns the keys of the tokens of a hub, which may run. */
export async function hubTokenKeys(place: HubPlace): Promise<TokenKeys> {
  const log = new MemoryLog();
  const { groupKeys, close } = await openRegistry(place, log);
  try {
    return await tokenKeysOf(place, { store: groupKeys, clock: new SystemClock(), log });
  } finally {
    await close();
  }
}

/** Writes the secret of hubs that share a database, and returns its file. */
export function groupSecretIn(folder: string): string {
  const file = join(folder, 'group.secret');
  writeFileSync(file, randomBytes(32).toString('base64'));
  return file;
}

/** Key of a hub that no test starts. */
export const foreignSigner: TokenSigner = { key: generateKeyPairSync('ed25519').privateKey };
