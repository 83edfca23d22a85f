/** Messages of PostgreSQL in partitions by time: repetitions, retention under load, and the upgrade from one table. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import { SqlExits, SqlReader } from '../../../hub/database/index.ts';
import {
  PartitionedRetention,
  Partitions,
  PostgresDatabase,
  PostgresMessageStore,
  postgresExits,
} from '../../../hub/database/postgres/index.ts';
import { DAY } from '../../../protocol/calendar.ts';
import { speedAt } from '../../contracts/hub-exits.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { NOON, ONE, OTHER, received, trip } from '../messages.ts';

const MIDNIGHT = NOON - DAY / 2;

describePeer('initdb', 'PostgreSQL with partitions', () => {
  const server = new PostgresRig();
  const log = new MemoryLog();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  const way = (at: number) => ({ points: [{ at, latitude: 48.85, longitude: 2.3, type: 'Acquire' as const }] });
  const waypoint = (seq: number, at: number, vin = ONE) =>
    received('waypoint', way(at), { vin, seq, boot: 1, offset: seq, at });

  /** Opens a database with daily partitions for the days from `since` on. */
  const open = async (since: number, url?: string) => {
    const database = await PostgresDatabase.open(url ?? (await server.create()), log);
    const parts = { database, days: { waypoint: 1, telemetry: 1 }, after: () => () => undefined, log };
    const prepare = (now: number): Promise<void> => new Partitions({ ...parts, clock: { now: () => now } }).begin();
    for (let now = since; now <= NOON; now += DAY) await prepare(now);
    return {
      database,
      prepare,
      store: new PostgresMessageStore(database, idOf),
      reader: new SqlReader(database.select),
      retention: new PartitionedRetention(database, parts.days),
    };
  };
  /** Number of messages by table. */
  const tablesOf = async (database: PostgresDatabase) => {
    const sql = `SELECT tableoid::regclass::text AS "table", count(*) AS count FROM messages GROUP BY 1 ORDER BY 1`;
    return Object.fromEntries((await database.select(sql)).map(({ table, count }) => [table, count]));
  };

  test('a message that arrives again after midnight, or after its partition was dropped, is not stored again', async () => {
    const { database, store, reader, retention } = await open(NOON - 3 * DAY);
    const before = MIDNIGHT - 1;
    const [first, second] = [waypoint(0, before), waypoint(1, before)];
    await store.save([first, second], []);
    const later = { ...first, received: MIDNIGHT };
    const again = await store.save([later, waypoint(2, MIDNIGHT)], []);
    expect(again.fresh.map(({ message }) => message.seq)).toEqual([2]);
    expect(await tablesOf(database)).toEqual({ messages_waypoint_2026_11_09: 2, messages_waypoint_2026_11_10: 1 });
    // The same number with other bytes is a conflict, also across the boundary.
    const other = received('waypoint', way(before + 5), { seq: 1, boot: 1, offset: 1, at: MIDNIGHT });
    expect((await store.save([other], [])).conflicts).toEqual([other]);
    expect((await store.save([{ ...other, received: NOON }], [])).fresh).toEqual([]);

    let removed = 0;
    for (let next: object | undefined = {}; next !== undefined; ) {
      const step = await retention.removeBefore('waypoint', MIDNIGHT);
      removed += step.removed;
      next = step.next;
    }
    expect(removed).toBe(2);
    expect(await tablesOf(database)).toEqual({ messages_waypoint_2026_11_10: 2 });
    expect((await store.save([{ ...first, received: NOON }], [])).fresh).toEqual([]);
    expect(await reader.numbers(ONE)).toEqual([{ class: 4, arrived: [[0, 2]], givenUp: [], missing: [] }]);
    await database.close();
  });

  test('messages under a wrong clock are stored, and move to their partition when it is made', async () => {
    const { database, store, prepare, retention } = await open(NOON);
    await store.save([waypoint(0, NOON + 40 * DAY), waypoint(1, 5), waypoint(2, NOON)], []);
    expect(await tablesOf(database)).toEqual({ messages_waypoint_2026_11_10: 1, messages_waypoint_other: 2 });
    await prepare(NOON + 40 * DAY);
    await prepare(NOON);
    expect(await tablesOf(database)).toEqual({
      messages_waypoint_2026_11_10: 1,
      messages_waypoint_2026_12_20: 1,
      messages_waypoint_other: 1,
    });
    await store.save([waypoint(3, NOON + 2 * DAY)], []);
    expect((await tablesOf(database))['messages_waypoint_2026_11_12']).toBe(1);
    // Retention removes rows outside partitions one by one.
    while ((await retention.removeBefore('waypoint', NOON - DAY)).next !== undefined) {
      // Each step removes some.
    }
    expect(await tablesOf(database)).toEqual({
      messages_waypoint_2026_11_10: 1,
      messages_waypoint_2026_11_12: 1,
      messages_waypoint_2026_12_20: 1,
    });
    await database.close();
  });

  test('partitions are dropped while hubs store and read messages, and no commit fails', async () => {
    const { database, store, retention, reader } = await open(NOON - 10 * DAY);
    for (let day = 0; day < 10; day++) {
      const at = NOON - 10 * DAY + day * DAY;
      await store.save(
        Array.from({ length: 50 }, (_, index) => waypoint(day * 50 + index, at)),
        [],
      );
    }
    let [ended, seq] = [false, 0];
    const load = async (vin: string): Promise<number> => {
      let stored = 0;
      while (!ended) {
        const { fresh } = await store.save([waypoint(seq++, NOON, vin), waypoint(seq++, NOON, vin)], []);
        stored += fresh.length;
        await reader.recordKeys(ONE, 'waypoint').read({}, 10);
      }
      return stored;
    };
    const loads = [load(OTHER), load('VF3VGEHVB00000003')];
    let removed = 0;
    // A transaction may hold a lock for too long. Then the next check tries again.
    while (removed < 500) removed += (await retention.removeBefore('waypoint', MIDNIGHT)).removed;
    ended = true;
    const stored = (await Promise.all(loads)).reduce((sum, one) => sum + one, 0);
    expect(removed).toBe(500);
    expect(await tablesOf(database)).toEqual({ messages_waypoint_2026_11_10: stored });
    expect(stored).toBe(seq);
    await database.close();
  });

  test('telemetry in a dropped partition that an exit had not confirmed is counted as lost', async () => {
    const { database, store, retention } = await open(NOON - DAY);
    const exits = new SqlExits(database, postgresExits(database));
    await exits.open('influx');
    const telemetry = (seq: number) => speedAt(NOON - DAY, seq, { seq, received: NOON - DAY });
    await store.save([telemetry(0), telemetry(1), telemetry(2)], []);
    const [first] = (await exits.read(0, 1)).items;
    await exits.save('influx', 0, { next: (first?.id ?? 0) + 1, refused: 0 }, NOON);
    expect(await retention.removeBefore('telemetry', MIDNIGHT)).toMatchObject({ removed: 3 });
    expect(await exits.reports(['influx'])).toMatchObject([{ lost: 2, waiting: 0 }]);
    await database.close();
  });

  test('while a transaction reads a partition for long, it is not dropped, and messages are stored', async () => {
    const url = await server.create();
    const hub = await open(NOON - 2 * DAY, url);
    await hub.store.save([waypoint(0, NOON - 2 * DAY)], []);
    const reader = new pg.Client({ connectionString: url });
    await reader.connect();
    await reader.query('BEGIN; SELECT count(*) FROM messages');
    const [dropped, saved] = await Promise.all([
      hub.retention.removeBefore('waypoint', MIDNIGHT),
      hub.store.save([waypoint(1, NOON)], []),
    ]);
    expect([dropped, saved.fresh.length]).toEqual([{ removed: 0 }, 1]);
    await reader.query('COMMIT');
    await reader.end();
    expect(await hub.retention.removeBefore('waypoint', MIDNIGHT)).toMatchObject({ removed: 1 });
    expect(await tablesOf(hub.database)).toEqual({ messages_waypoint_2026_11_10: 1 });
    await hub.database.close();
  });

  /** Returns a database to format 6, with its messages in one table. */
  const toFormat6 = (url: string) =>
    server.execute(
      url,
      `DROP TABLE record_counts, trusted_keys, exits, audit;
       DROP FUNCTION count_records_on_insert, count_records_on_update, count_records_on_delete, count_members_on_insert,
         count_members_on_delete, merge_record_counts CASCADE;
       DROP VIEW series; ALTER TABLE messages RENAME TO newer;
       CREATE TABLE messages (id bigint GENERATED ALWAYS AS IDENTITY, at bigint NOT NULL, received bigint NOT NULL,
         vehicle int NOT NULL, seq int NOT NULL, boot bigint NOT NULL, class smallint NOT NULL, kind smallint NOT NULL,
         clock smallint NOT NULL, payload bytea NOT NULL, UNIQUE (vehicle, class, seq, boot));
       INSERT INTO messages OVERRIDING SYSTEM VALUE
         SELECT id, at, received, vehicle, seq, boot, class, kind, clock, payload FROM newer;
       DROP TABLE newer;
       ALTER SEQUENCE IF EXISTS messages_id_seq1 RENAME TO messages_id_seq;
       SELECT setval('messages_id_seq', max(id)) FROM messages;
       ALTER SEQUENCE vehicle_ids RENAME TO vehicles_id_seq;
       CREATE INDEX messages_by_arrival ON messages (class, kind, (received / 1000));
       CREATE INDEX events ON messages (id) WHERE kind = 3;
       CREATE INDEX events_of_car ON messages (vehicle, id) WHERE kind = 3;
       CREATE INDEX series_by_time ON messages (vehicle, kind, at) WHERE kind = 1;
       CREATE VIEW series AS SELECT vehicle FROM messages;
       DROP VIEW vehicle, reading, latest, trip;
       DROP TABLE readings, paths;
       ALTER TABLE numbers DROP COLUMN unsure_below;
       ALTER TABLE records DROP COLUMN trip_class;
       UPDATE hub_format SET format = 6`,
    );
  const content = async (database: PostgresDatabase) =>
    database.select(
      'SELECT id, at, received, vehicle, seq, boot, class, kind, clock, payload FROM messages ORDER BY id',
    );

  /** Columns of all tables but the partitions, whose number depends on the time. */
  const columnsOf = (database: PostgresDatabase) =>
    database.select(`SELECT relname AS place, attname AS name, atttypid::regtype::text AS type, attnotnull, attstattarget
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0
        AND NOT attisdropped ORDER BY 1, 2`);

  test('a database of format 6 is upgraded, also if the hub is killed meanwhile, and finds repetitions afterwards', async () => {
    const url = await server.create();
    const made = await open(NOON, url);
    const messages = [
      ...Array.from({ length: 30 }, (_, seq) => waypoint(seq, NOON - seq * DAY)),
      received('trip', trip('a'), { seq: 0 }),
      received('status', { full: true, status: { kinetic: { createdAt: NOON, speed: 5 } } } as never, { seq: 0 }),
    ];
    await made.store.save(messages, []);
    const before = await content(made.database);
    const newColumns = await columnsOf(made.database);
    await made.database.close();
    await toFormat6(url);

    const { query } = pg.Client.prototype;
    let moves = 0;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...words: unknown[]) {
      // The connection ends within the second commit that moves messages, as when the hub is killed.
      if (String(words[0]).includes('OVERRIDING SYSTEM VALUE') && ++moves === 2) {
        (this as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
      }
      return (query as (...words: unknown[]) => unknown).apply(this, words);
    } as never);
    await expect(PostgresDatabase.open(url, log)).rejects.toMatchObject({ code: 'input.unreadable' });
    vi.restoreAllMocks();
    expect(await server.execute(url, 'SELECT kind FROM upgrade')).toHaveLength(1);

    // Two hubs continue at once.
    const [database, other] = await Promise.all([PostgresDatabase.open(url, log), PostgresDatabase.open(url, log)]);
    expect(await content(database)).toEqual(before);
    expect(await database.select("SELECT to_regclass('messages_6')::text AS old")).toEqual([{ old: null }]);
    expect(await columnsOf(database)).toEqual(newColumns);
    const store = new PostgresMessageStore(other, idOf);
    const { fresh } = await store.save([...messages, waypoint(30, NOON)], []);
    expect(fresh.map(({ message }) => message.seq)).toEqual([30]);
    const reader = new SqlReader(database.select);
    expect((await reader.record(ONE, 'trip', 'a'))?.record).toMatchObject({ id: 'a' });
    expect((await reader.record(ONE, 'waypoint', '1-1e'))?.at).toBe(NOON);
    expect(await content(database)).toHaveLength(33);
    await Promise.all([database.close(), other.close()]);
  });

  test('a hub of the previous format stores nothing in an upgraded database', async () => {
    const url = await server.create();
    await (await PostgresDatabase.open(url, log)).close();
    // The first statement of its commits.
    const sql = "SELECT coalesce(id, nextval('vehicles_id_seq')) FROM vehicles";
    await expect(server.execute(url, sql)).rejects.toMatchObject({ code: '42P01' });
  });
});
