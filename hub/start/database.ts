/** The database of a hub: an SQLite file, or PostgreSQL. */

import type { Clock, Log } from '../../agent/ports.ts';
import { idOf } from '../../assembly/view.ts';
import { defined } from '../../protocol/defined.ts';
import type { AuditReport } from '../core/audit.ts';
import type { DeliveryStore } from '../core/deliveries.ts';
import type { DueTimesStore } from '../core/due-times.ts';
import type { ExitStore } from '../core/exits.ts';
import type { GroupKeyStore } from '../core/group-keys.ts';
import type { CarMonitorStore, MonitorStore } from '../core/monitors.ts';
import type {
  CommandStore,
  HubLocks,
  HubNews,
  MessageStore,
  NumbersStore,
  OverviewReader,
  ResendStore,
  Timer,
  TripClassStore,
  VehicleReader,
} from '../core/ports.ts';
import type { Registry } from '../core/registry.ts';
import type { KeptDays, RetentionDays, RetentionStore } from '../core/retention.ts';
import type { RolloutStore } from '../core/rollout-store.ts';
import type { DiskReader } from '../core/trends.ts';
import { UNREGISTERED_BOUNDS, type UnregisteredBounds, type UnregisteredStore } from '../core/unregistered.ts';
import { verifyAudit } from '../database/audit.ts';
import { postgresDeliveries, SqlDeliveries, sqliteDeliveries } from '../database/deliveries.ts';
import { postgresDisk, sqliteDisk } from '../database/disk.ts';
import {
  LocalNews,
  SqlDueTimes,
  SqlExits,
  SqlGroupKeys,
  SqliteCommandStore,
  SqliteDatabase,
  SqliteMessageStore,
  SqlMonitors,
  SqlOverview,
  SqlReader,
  SqlRegistry,
  SqlRetention,
  SqlRollouts,
  SqlTripClasses,
  SqlUnregistered,
  sqliteExits,
  UNREGISTERED_LOCK,
} from '../database/index.ts';
import { addPaths } from '../database/readings.ts';
import type { Select } from '../database/rows.ts';

/** Parts of a hub's database. */
export interface HubDatabase {
  readonly store: MessageStore;
  readonly reader: VehicleReader & NumbersStore & ResendStore;
  readonly overviewReader: OverviewReader;
  readonly audit: CommandStore;
  readonly registry: Registry;
  readonly groupKeys: GroupKeyStore;
  readonly monitorStore: MonitorStore & CarMonitorStore;
  readonly rollouts: RolloutStore;
  readonly tripClasses: TripClassStore;
  readonly deliveries: DeliveryStore;
  readonly dueTimes: DueTimesStore;
  readonly exits: ExitStore;
  readonly retention: RetentionStore;
  /** Days to keep rows of readings; 0 to remove those of an earlier setting. Undefined if no hub has stored rows. */
  readonly readingDays: number | undefined;
  readonly unregistered: UnregisteredStore;
  readonly locks: HubLocks;
  readonly disk: DiskReader;
  /** Checks the audit trail. `known`: digest of an earlier check. */
  verifyAudit(known?: string): Promise<AuditReport>;
  readonly news: HubNews;
  close(): Promise<void>;
}

interface DatabaseOptions {
  readonly bounds?: UnregisteredBounds;
  /** Days to keep rows of readings. If omitted, readings are not stored as rows. */
  readonly readings?: number | undefined;
}

/** Returns the days to keep rows of readings (`readingDays`). */
async function readingDays(select: Select, days: number | undefined): Promise<number | undefined> {
  if (days !== undefined) return days;
  return (await select('SELECT 1 AS n FROM readings LIMIT 1')).length === 0 ? undefined : 0;
}

export async function onSqlite(
  file: string,
  limit: number,
  log: Log,
  { bounds = UNREGISTERED_BOUNDS, readings }: DatabaseOptions = {},
): Promise<HubDatabase> {
  const database = await SqliteDatabase.open(file);
  await database.write([addPaths()]);
  const news = new LocalNews((error) => log.error('hub.news.failed', { error: String(error) }));
  return {
    store: new SqliteMessageStore(database, idOf, news, limit, readings !== undefined),
    reader: new SqlReader(database.select),
    overviewReader: new SqlOverview(database.select),
    audit: new SqliteCommandStore(database),
    registry: new SqlRegistry(database),
    groupKeys: new SqlGroupKeys(database),
    monitorStore: new SqlMonitors(database),
    rollouts: new SqlRollouts(database),
    tripClasses: new SqlTripClasses(database),
    deliveries: new SqlDeliveries(database, sqliteDeliveries),
    dueTimes: new SqlDueTimes(database),
    exits: new SqlExits(database, sqliteExits(database.select)),
    retention: new SqlRetention(database, ''),
    readingDays: await readingDays(database.select, readings),
    unregistered: new SqlUnregistered(database, '', bounds),
    // The lock of the directory guarantees that no other hub uses the file.
    locks: {
      place: async () => undefined,
      acquire: async () => ({ lost: new Promise(() => undefined), release: async () => undefined }),
    },
    disk: sqliteDisk(database.select, file),
    verifyAudit: (known) => verifyAudit(database.select, known),
    news,
    close: async () => database.close(),
  };
}

/** Returns the clock. Hubs that share a PostgreSQL database use its time. Rejects as `DatabaseClock.open` does. */
export async function hubClock(database: string | undefined, own: Clock): Promise<Clock> {
  if (database === undefined) return own;
  const { DatabaseClock } = await import('../database/postgres/index.ts');
  return DatabaseClock.open(database, own);
}

interface PostgresParts extends DatabaseOptions {
  /** Largest number of events that wait for one receiver. */
  readonly limit: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly retention?: RetentionDays | undefined;
}

/** Opens PostgreSQL. Loads the client library only here, so that a hub on SQLite does not load it. */
export async function onPostgres(
  url: string,
  { limit, clock, log, bounds, readings, retention: days = {} }: PostgresParts,
): Promise<HubDatabase> {
  const {
    PartitionedRetention,
    Partitions,
    PostgresCommandStore,
    PostgresDatabase,
    PostgresLocks,
    PostgresMessageStore,
    PostgresNews,
    postgresExits,
  } = await import('../database/postgres/index.ts');
  const database = await PostgresDatabase.open(url, log, days);
  await database.write([addPaths()]);
  const kept: KeptDays = { ...days, ...defined({ reading: readings }) };
  const after: Timer = (delay, due) => clock.after(delay, due);
  const news = new PostgresNews({ url, log, after });
  await news.begin();
  const partitions = new Partitions({ database, days: kept, clock, after, log });
  await partitions.begin();
  return {
    store: new PostgresMessageStore(database, idOf, limit, readings !== undefined),
    reader: new SqlReader(database.select),
    overviewReader: new SqlOverview(database.select),
    audit: new PostgresCommandStore(database),
    registry: new SqlRegistry(database),
    groupKeys: new SqlGroupKeys(database),
    monitorStore: new SqlMonitors(database),
    rollouts: new SqlRollouts(database),
    tripClasses: new SqlTripClasses(database),
    deliveries: new SqlDeliveries(database, postgresDeliveries),
    dueTimes: new SqlDueTimes(database),
    exits: new SqlExits(database, postgresExits(database)),
    retention: new PartitionedRetention(database, kept),
    readingDays: await readingDays(database.select, readings),
    unregistered: new SqlUnregistered(database, UNREGISTERED_LOCK, bounds),
    locks: new PostgresLocks(url),
    disk: postgresDisk(database.select),
    verifyAudit: (known) => verifyAudit(database.select, known),
    news,
    close: async () => {
      await partitions.stop();
      await news.end();
      await database.close();
    },
  };
}
