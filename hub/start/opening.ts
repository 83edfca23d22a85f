/** First steps of the start of a hub: directory, database, keys, access control. */
import { isLoopback } from '../../adapters/http/hosts.ts';
import { lockDirectory } from '../../adapters/store/index.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Registry } from '../core/registry.ts';
import { RegistryStates } from '../core/registry-state.ts';
import { type HubDatabase, onPostgres, onSqlite } from './database.ts';
import type { HubCertificates, SecureHub } from './enrolment.ts';
import { makeDatabaseFile, makeHubDirectory } from './folder.ts';
import { GroupKeys } from './group-keys.ts';
import { type HubKeys, keysInFiles } from './hub-keys.ts';
import { type HubStart, LOCAL } from './options.ts';

/** Creates the directory and locks it. @throws VigieError `usage.wrong` if another process uses it */
export function openDirectory({ options, log, teardowns }: HubStart): void {
  makeHubDirectory(options.data, log);
  const unlock = lockDirectory(options.data);
  teardowns.unshift(async () => unlock());
}

/** Opens PostgreSQL or the SQLite file. For each receiver, at most `limit` notifications may wait. */
export async function openDatabase({ options, clock, log, teardowns }: HubStart, limit: number): Promise<HubDatabase> {
  const { data, database: url, retention, readings } = options;
  const database =
    url === undefined
      ? await onSqlite(makeDatabaseFile(data, log), limit, log, { readings })
      : await onPostgres(url, { limit, clock, log, retention, readings });
  teardowns.unshift(database.close);
  return database;
}

/** Opens the keys: those in files of this hub or, with PostgreSQL, those that all its hubs share. */
export async function openKeys(start: HubStart, { groupKeys: store }: HubDatabase): Promise<HubKeys> {
  const { options, clock, log, after, teardowns } = start;
  const { data, database, secretFile } = options;
  if (database === undefined) return keysInFiles({ data, clock, log });
  const keys = await GroupKeys.open({ store, data, secretFile, clock, log });
  keys.begin(after);
  teardowns.unshift(() => keys.stop());
  return keys;
}

/** Opens the registry. Rejects with `usage.wrong` if other machines could use the hub without protection. */
export async function openRegistry({ options }: HubStart, registry: Registry): Promise<RegistryStates> {
  const { broker = LOCAL, http = LOCAL } = options.hosts ?? {};
  const exposed = [broker, http].find((host) => !isLoopback(host));
  if (exposed !== undefined) await requireProtection(exposed, options.secure, registry);
  return new RegistryStates(registry, exposed !== undefined);
}

/** Opens the certificates. A hub without TLS has none, and does not load the code for them. */
export async function openTls({ options, clock }: HubStart): Promise<HubCertificates | undefined> {
  if (options.secure === undefined) return undefined;
  const { openCertificates } = await import('./enrolment.ts');
  return openCertificates(options.data, options.secure.names, clock.now());
}

/** @throws VigieError `usage.wrong` if others could use the hub without access control or encryption */
async function requireProtection(where: string, secure: SecureHub | undefined, registry: Registry): Promise<void> {
  if (secure === undefined) {
    throw new VigieError('usage.wrong', 'a hub that listens beyond this machine needs TLS: --tls', { where });
  }
  if (await registry.inUse()) return;
  const text = 'a hub that listens beyond this machine needs access control: register a car first (vigie hub add)';
  throw new VigieError('usage.wrong', text, { where });
}
