/** PostgreSQL as the database of hubs: the contract of every store, and behaviour specific to PostgreSQL. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import type { CommandKey } from '../../../hub/core/commands.ts';
import { SqlRegistry } from '../../../hub/database/index.ts';
import { PostgresCommandStore, PostgresDatabase, PostgresMessageStore } from '../../../hub/database/postgres/index.ts';
import { hubRepetitionsContract } from '../../contracts/hub-repetitions.ts';
import { type HubStoreUnderTest, hubStoreContract, useEveryQuery } from '../../contracts/hub-store.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { NOON, ONE, OTHER, received, trip } from '../messages.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  const log = new MemoryLog();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  const partsOf = (database: PostgresDatabase) => ({
    store: new PostgresMessageStore(database, idOf),
    // PostgresCommandStore both reads and writes commands.
    reader: new PostgresCommandStore(database),
    commands: new PostgresCommandStore(database),
    registry: new SqlRegistry(database),
  });

  const create = async (): Promise<HubStoreUnderTest> => {
    const url = await server.create();
    let database = await PostgresDatabase.open(url, log);
    let store = new PostgresMessageStore(database, idOf);
    return {
      get store() {
        return store;
      },
      get reader() {
        return partsOf(database).reader;
      },
      get commands() {
        return partsOf(database).commands;
      },
      get registry() {
        return partsOf(database).registry;
      },
      payloads: async (vin) => {
        const rows = await database.select(
          `SELECT payload FROM messages JOIN vehicles ON vehicles.id = vehicle WHERE vin = ? ORDER BY class, seq, boot`,
          vin,
        );
        return rows.map(({ payload }) => payload as Uint8Array);
      },
      remove: (vin) =>
        database.transaction(async (execute) => {
          await execute('DELETE FROM messages WHERE vehicle = (SELECT id FROM vehicles WHERE vin = $1)', [vin]);
        }),
      reopen: async () => {
        await database.close();
        database = await PostgresDatabase.open(url, log);
        store = new PostgresMessageStore(database, idOf);
      },
      close: () => database.close(),
    };
  };

  hubStoreContract('PostgreSQL', create);
  hubRepetitionsContract('PostgreSQL', create);

  test('hubs that take turns storing messages of a car produce the same Status as one hub', async () => {
    const database = await PostgresDatabase.open(await server.create(), log);
    const [one, other] = [new PostgresMessageStore(database, idOf), new PostgresMessageStore(database, idOf)];
    const { reader } = partsOf(database);
    const at = (seq: number): number => NOON + seq * 1_000;
    const change = (seq: number, status: object) =>
      received('status', { full: seq === 0, status } as never, { seq, at: at(seq) });
    const speed = (seq: number) => ({ kinetic: { createdAt: at(seq), speed: seq + 1 } });
    const ignition = (seq: number) => ({ ignition: { createdAt: at(seq), type: seq % 2 === 0 ? 'Start' : 'Stop' } });
    const shown = async () => (await reader.status(ONE))?.contents();
    await one.save([change(0, { ...speed(0), ...ignition(0) })], []);
    await one.save([change(1, speed(1))], []);
    await other.save([change(2, ignition(2))], []);
    expect(await shown()).toEqual({ ...speed(1), ...ignition(2) });
    await other.save([change(3, ignition(3))], []);
    // The first hub has cached its own writes from before those of the other.
    await one.save([change(4, speed(4))], []);
    expect(await shown()).toEqual({ ...speed(4), ...ignition(3) });
    // A failed commit does not change the base of the next one.
    const broken = received('trip', trip('a'), { seq: 0 });
    // PostgreSQL texts have no U+0000, so the records fail. A commit writes them after Status.
    (broken.message.body as { id: string }).id = '\0';
    await expect(one.save([change(5, ignition(5)), broken], [])).rejects.toMatchObject({ code: 'store.failed' });
    await one.save([change(6, speed(6))], []);
    expect(await shown()).toEqual({ ...speed(6), ...ignition(3) });
    await database.close();
  });

  test('two hubs that store messages of the same cars at once store each message once', async () => {
    const url = await server.create();
    const [one, two] = [await PostgresDatabase.open(url, log), await PostgresDatabase.open(url, log)];
    const messages = Array.from({ length: 200 }, (_, seq) =>
      received('trip', trip(`a${seq}`), { seq: seq >> 1, vin: seq % 2 === 0 ? ONE : OTHER }),
    );
    const batches = Array.from({ length: 10 }, (_, index) => messages.slice(index * 20, index * 20 + 20));
    // The orders are opposite, so that each hub waits for vehicles that the other has locked.
    await Promise.all(
      batches.flatMap((batch) => [partsOf(one).store.save(batch, []), partsOf(two).store.save(batch.toReversed(), [])]),
    );
    const { reader } = partsOf(one);
    for (const vin of [ONE, OTHER]) {
      expect(await reader.numbers(vin)).toEqual([{ class: 2, arrived: [[0, 99]], givenUp: [], missing: [] }]);
    }
    expect(await one.select('SELECT count(*) AS count FROM messages')).toEqual([{ count: 200 }]);
    await Promise.all([one.close(), two.close()]);
  });

  test('two hubs that send commands to one car at once never reuse a counter', async () => {
    const url = await server.create();
    const [one, two] = [await PostgresDatabase.open(url, log), await PostgresDatabase.open(url, log)];
    await partsOf(one).store.save([received('trip', trip('a'))], []);
    const key: CommandKey['id'] = 'aa';
    const kept = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        partsOf(index % 2 === 0 ? one : two).commands.add(
          {
            id: `a${index}`,
            vin: ONE,
            type: 'Doors' as const,
            body: { state: 'Locked' },
            caller: 'local',
            requested: NOON,
            expires: NOON + 120_000,
            key,
          },
          (counter) => Uint8Array.of(counter % 256),
        ),
      ),
    );
    expect(new Set(kept.map(({ kept: { counter } }) => counter)).size).toBe(20);
    await Promise.all([one.close(), two.close()]);
  });

  test('the tables are created once when hubs start together', async () => {
    const url = await server.create();
    const databases = await Promise.all(Array.from({ length: 4 }, () => PostgresDatabase.open(url, log)));
    for (const database of databases) expect(await partsOf(database).reader.vehicles()).toEqual([]);
    await Promise.all(databases.map((database) => database.close()));
  });

  test('a foreign database, another schema, a wrong encoding and a missing database are refused', async () => {
    const foreign = await server.create();
    await server.execute(foreign, 'CREATE TABLE theirs (x int)');
    await expect(PostgresDatabase.open(foreign, log)).rejects.toThrow('has tables of another program');
    const other = await server.create();
    await (await PostgresDatabase.open(other, log)).close();
    for (const format of [99, 1]) {
      await server.execute(other, `UPDATE hub_format SET format = ${format}`);
      const refusal = new RegExp(`hub\\d+: has format ${format}, but this Vigie reads only format`);
      await expect(PostgresDatabase.open(other, log)).rejects.toThrow(refusal);
    }
    const latin = await server.create("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    await expect(PostgresDatabase.open(latin, log)).rejects.toThrow(
      "has the encoding LATIN1: create it with ENCODING 'UTF8'",
    );
    await expect(PostgresDatabase.open(`${other}nothing`, log)).rejects.toThrow(
      /cannot be opened as the database of the hub/,
    );
    await expect(PostgresDatabase.open('mysql://u:secret@h/d', log)).rejects.toThrow(
      /^the database must be postgres:\/\/user:password@host:port\/database$/,
    );
  });

  test('error messages never contain the password', async () => {
    const error = await PostgresDatabase.open('postgres://vigie:secret@127.0.0.1:1/hub', log).catch((cause) => cause);
    expect(error.message).toContain('postgres://127.0.0.1:1/hub: cannot be opened');
    expect(error.message).not.toContain('secret');
  });

  test('a commit is durable when it ends, even if the server does not wait for its disk by default', async () => {
    const url = await server.create();
    const name = new URL(url).pathname.slice(1);
    await server.execute(url, `ALTER DATABASE ${name} SET synchronous_commit = off`);
    const database = await PostgresDatabase.open(url, log);
    const [setting] = await database.transaction((execute) => execute('SHOW synchronous_commit'));
    expect(setting).toEqual({ synchronous_commit: 'on' });
    await database.close();
  });

  test('text with U+0000, which PostgreSQL rejects, does not affect other messages', async () => {
    const database = await PostgresDatabase.open(await server.create(), log);
    const { store, commands } = partsOf(database);
    await store.save([received('trip', trip('a'))], []);
    await commands.add(
      {
        id: 'a1',
        vin: ONE,
        type: 'Doors' as const,
        body: { state: 'Locked' },
        caller: 'local',
        requested: NOON,
        expires: NOON + 120_000,
        key: 'aa',
      },
      () => Uint8Array.of(1),
    );
    const report = { remoteActionId: 'a1', type: 'Doors' as const, status: 'Failed' as const, detail: 'door\0open' };
    await store.save(
      [received('remote', report, { seq: 0 })],
      [{ topic: 't\0', reason: 'r\0', payload: Uint8Array.of(0), received: NOON }],
    );
    expect((await commands.command(ONE, 'a1'))?.states).toEqual([
      { status: 'Failed', detail: 'door\u{fffd}open', at: NOON },
    ]);
    await database.close();
  });

  test('slow interface queries do not delay the intake of the hub', async () => {
    const url = await server.create();
    const [hub, other] = [await PostgresDatabase.open(url, log), await PostgresDatabase.open(url, log)];
    let waiting: Promise<unknown> | undefined;
    await other.transaction(async (execute) => {
      await execute('SELECT pg_advisory_xact_lock(7)');
      waiting = Promise.all(Array.from({ length: 20 }, () => hub.select('SELECT pg_advisory_xact_lock_shared(7)')));
      // All connections for requests may be in use by now.
      await partsOf(hub).store.save([received('trip', trip('a'))], []);
    });
    await waiting;
    expect(await partsOf(hub).reader.vehicle(ONE)).toMatchObject({ vin: ONE });
    await Promise.all([hub.close(), other.close()]);
  });

  test('queries use indexes: no sequential scan or sort of a large table', async () => {
    const url = await server.create();
    const database = await PostgresDatabase.open(url, log);
    const { payload } = received('trip', trip('a'));
    // 200 cars with 200 records and 200 commands each.
    await server.execute(
      url,
      `INSERT INTO vehicles (vin, public_id, first_seen, last_seen) SELECT 'VF3VGEPLAN' || lpad(n::text, 7, '0'), n, 1, 1
       FROM generate_series(1, 200) n`,
      `INSERT INTO messages (vehicle, class, seq, boot, kind, at, clock, received, payload)
       SELECT v, CASE n % 3 WHEN 1 THEN 5 ELSE 2 END, n, 9, CASE n % 3 WHEN 1 THEN 1 ELSE 3 END, ${NOON} - n, 1, 1, '\\x${Buffer.from(payload).toString('hex')}'
       FROM generate_series(1, 200) v, generate_series(1, 200) n`,
      `INSERT INTO records (vehicle, collection, id, at, boot, seq, message)
       SELECT vehicle, CASE seq % 3 WHEN 0 THEN 'trip' WHEN 1 THEN 'fault' ELSE 'alert' END, 'b' || seq, at, boot, seq, id
       FROM messages`,
      `INSERT INTO commands SELECT 'c' || id, vehicle, 'Doors', '{}', 'local', at, at, 'aa', seq, '\\x00', true FROM messages`,
      `INSERT INTO command_states SELECT id, 0, 0, 'Success', null, null, 0 FROM commands`,
      'ANALYZE',
    );
    const asked = new Map<string, readonly unknown[]>();
    const watched = Object.create(database) as PostgresDatabase;
    Object.defineProperties(watched, {
      select: {
        value: (sql: string, ...values: (string | number)[]) => {
          let number = 0;
          asked.set(
            sql.replace(/\?/g, () => `$${++number}`),
            values,
          );
          return database.select(sql, ...values);
        },
      },
      transaction: {
        value: (work: Parameters<typeof database.transaction>[0]) =>
          database.transaction((execute) =>
            work((sql, values = []) => {
              asked.set(sql, values);
              return execute(sql, values);
            }),
          ),
      },
    });
    await useEveryQuery(partsOf(watched));
    expect(asked.size).toBeGreaterThan(30);
    const scans: string[] = [];
    await database.transaction(async (execute) => {
      const explain = async (wrong: RegExp): Promise<void> => {
        for (const [sql, values] of asked) {
          const steps = (await execute(`EXPLAIN (COSTS OFF) ${sql}`, values)).map((row) => String(row['QUERY PLAN']));
          const isWrong = (step: string, index: number): boolean =>
            // Merging sorted partitions sorts nothing.
            wrong.test(step) && !/Merge Append/.test(steps[index - 1] ?? '');
          scans.push(...steps.filter(isWrong).map((step) => `${step.trim()}: ${sql}`));
        }
      };
      await explain(/Seq Scan on (messages_rest|messages_telemetry_other|records|commands|command_states)/);
      // The planner may sort tables that it considers short. Except for new vehicles, an index has the order of each
      // query.
      await execute('SET LOCAL enable_sort = off');
      for (const sql of asked.keys()) if (/unnest.* ORDER BY given\.vin/s.test(sql)) asked.delete(sql);
      await explain(/Sort Key/);
    });
    expect(scans).toEqual([]);
    await database.close();
  });
});
