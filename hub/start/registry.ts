/** Opens the registry of a hub, for commands that change the registry whether or not the hub is running. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditReport } from '../core/audit.ts';
import type { GroupKeyStore } from '../core/group-keys.ts';
import type { HubLog, NumbersStore } from '../core/ports.ts';
import type { Registry } from '../core/registry.ts';
import type { RolloutStore } from '../core/rollout-store.ts';
import { verifyAudit } from '../database/audit.ts';
import { SqlGroupKeys, SqliteDatabase, SqlReader, SqlRegistry, SqlRollouts } from '../database/index.ts';
import { databaseFile, makeDatabaseFile, makeHubDirectory } from './folder.ts';

/** Location of a hub. */
export interface HubPlace {
  /** Directory of the database and the keys. */
  readonly data: string;
  /** URL of PostgreSQL. If omitted, the hub uses an SQLite file in the directory. */
  readonly database?: string;
  /** File of the secret that encrypts the keys in PostgreSQL. If omitted, a file in the directory. */
  readonly secretFile?: string;
}

export interface OpenRegistry {
  readonly registry: Registry;
  readonly reader: Pick<NumbersStore, 'vehicles'>;
  readonly rollouts: RolloutStore;
  readonly groupKeys: GroupKeyStore;
  /** Checks the audit trail. `known`: digest of an earlier check. */
  audit(known?: string): Promise<AuditReport>;
  close(): Promise<void>;
}

/** Returns true if a hub has used the directory: it contains an SQLite file or, with PostgreSQL, keys. */
export function isHubPlace({ data, database }: HubPlace): boolean {
  return existsSync(database === undefined ? databaseFile(data) : join(data, 'keys'));
}

/** Returns true if a hub was ever started in the directory: the first start creates the trust file for cars. */
export function hasRun({ data }: HubPlace): boolean {
  return existsSync(join(data, 'keys', 'trust.json'));
}

/** Returns true if the hub of the directory was ever started with TLS, which means that it enrols cars. */
export function usesTls({ data }: HubPlace): boolean {
  return existsSync(join(data, 'hub.pem'));
}

/** Opens the database of a hub, even while the hub runs. Rejects as `startHub` does, except for the directory lock. */
export async function openRegistry({ data, database: url }: HubPlace, log: HubLog): Promise<OpenRegistry> {
  makeHubDirectory(data, log);
  if (url === undefined) {
    const database = await SqliteDatabase.open(makeDatabaseFile(data, log));
    return {
      registry: new SqlRegistry(database),
      reader: new SqlReader(database.select),
      rollouts: new SqlRollouts(database),
      groupKeys: new SqlGroupKeys(database),
      audit: (known) => verifyAudit(database.select, known),
      close: async () => database.close(),
    };
  }
  const { PostgresDatabase } = await import('../database/postgres/index.ts');
  const database = await PostgresDatabase.open(url, log);
  return {
    registry: new SqlRegistry(database),
    reader: new SqlReader(database.select),
    rollouts: new SqlRollouts(database),
    groupKeys: new SqlGroupKeys(database),
    audit: (known) => verifyAudit(database.select, known),
    close: () => database.close(),
  };
}
