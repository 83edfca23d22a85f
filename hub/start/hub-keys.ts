/**
 * Keys of a hub for commands, tokens and page tokens. A hub on SQLite has them in files. Hubs on PostgreSQL share them
 * in the database, encrypted with a secret that each hub has.
 */
import { join } from 'node:path';
import { PageTokens } from '../../adapters/http/paging.ts';
import { CommandSigner, generateKey, listKeys } from '../../adapters/keys/index.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { pageKey } from '../../assembly/interface.ts';
import { remoteTypes } from '../../protocol/remote/table.ts';
import type { CommandKey } from '../core/commands.ts';
import { type TokenKeys, tokenKeysInFile } from '../http/access.ts';

/** Kinds of command for which a new key of a hub is made. */
export const commandKinds: readonly string[] = [...remoteTypes, 'Resend', 'Configuration', 'Monitor'];

/** Name of a hub's own key in its directory of keys. */
export const OWN_KEY = 'hub';

export interface HubKeys {
  /** Hexadecimal id that differs between hubs. */
  readonly identity: string;
  /** Keys that sign commands. The first one is for cars about which nothing else is known. */
  commands(): readonly [CommandKey, ...CommandKey[]];
  readonly tokens: TokenKeys;
  readonly pages: PageTokens;
}

interface KeyFilesParts {
  /** Directory of the hub. */
  readonly data: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Returns the directory of keys in the directory of a hub. */
export const keysFolder = (data: string): string => join(data, 'keys');

/** Returns the keys of a hub that has them in files. Generates missing ones. Rejects as {@link CommandSigner.open}. */
export async function keysInFiles({ data, clock, log }: KeyFilesParts): Promise<HubKeys> {
  const key = await commandKey(keysFolder(data));
  return {
    identity: key.id,
    commands: () => [key],
    tokens: tokensInFile({ data, clock, log }),
    pages: new PageTokens(pageKey(pageKeyFile(data), log)),
  };
}

/** Returns the keys for tokens of a hub that has them in a file. Generates a missing file. */
export function tokensInFile({ data, ...parts }: KeyFilesParts): TokenKeys {
  return tokenKeysInFile(tokenKeyFile(keysFolder(data)), parts);
}

export const tokenKeyFile = (keys: string): string => join(keys, 'tokens.pem');
export const pageKeyFile = (data: string): string => join(data, 'pages.key');

async function commandKey(directory: string): Promise<CommandKey> {
  if (!(await listKeys(directory)).some(({ name }) => name === OWN_KEY)) {
    await generateKey(directory, OWN_KEY, { algorithm: 'Ed25519', kinds: commandKinds });
  }
  const signer = await CommandSigner.open(directory, OWN_KEY);
  return { id: Buffer.from(signer.keyId).toString('hex'), sign: (payload) => signer.seal(payload) };
}
