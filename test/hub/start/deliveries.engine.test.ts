import { afterAll, beforeAll, expect, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { idOf } from '../../../assembly/view.ts';
import { postgresDeliveries, SqlDeliveries } from '../../../hub/database/deliveries.ts';
import { SqlMonitors } from '../../../hub/database/index.ts';
import { numbered, PostgresDatabase } from '../../../hub/database/postgres/database.ts';
import { PostgresMessageStore } from '../../../hub/database/postgres/index.ts';
import type { SqlStatement } from '../../../hub/database/registry.ts';
import { onPostgres } from '../../../hub/start/database.ts';
import { hubDeliveriesContract } from '../../contracts/hub-deliveries.ts';
import { hubReceiversContract } from '../../contracts/hub-receivers.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { DeliveryRig } from '../delivery-rig.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubDeliveriesContract('PostgreSQL', async () => ({ database: await server.create() }));
  test('claiming receivers and reading or changing their waiting events use indexes', async () => {
    const database = await PostgresDatabase.open(await server.create(), new MemoryLog());
    const asked: SqlStatement[] = [];
    const deliveries = new SqlDeliveries(
      {
        select: (sql, ...values) => {
          asked.push([sql, ...values]);
          return database.select(sql, ...values);
        },
        write: (statements) => {
          asked.push(...statements);
          return database.write(statements);
        },
      },
      postgresDeliveries,
    );
    const rig = new DeliveryRig();
    const [monitor = ''] = await rig.monitorsTo({ monitorStore: new SqlMonitors(database) }, ['http://127.0.0.1:9/']);
    await new PostgresMessageStore(database, idOf).save(rig.eventsOf([monitor, monitor]), []);
    const now = Date.now();
    const [one] = await deliveries.claim({ now, lease: 'a', lasts: 60_000, proven: false, limit: 9 });
    if (one === undefined) throw new Error('nothing was claimed');
    const { key, lease, next: seen } = one;
    expect(await deliveries.waiting(key, 9)).toHaveLength(2);
    const change = { key, lease, held: 1, tries: 1, done: [0], lasts: 60_000 };
    await deliveries.save([{ ...change, released: { proven: false, now, seen } }]);
    await deliveries.removeReceiver(key, lease);
    await deliveries.running(['a1']);
    expect(asked.length).toBeGreaterThan(10);
    const scans = await database.transaction(async (execute) => {
      await execute('SET LOCAL enable_seqscan = off');
      const found: string[] = [];
      for (const [sql, ...values] of asked) {
        const steps = (await execute(`EXPLAIN (COSTS OFF) ${numbered(sql)}`, values)).map((row) => row['QUERY PLAN']);
        if (steps.some((step) => String(step).includes('Seq Scan'))) found.push(sql, ...steps.map(String));
      }
      return found;
    });
    expect(scans).toEqual([]);
    await database.close();
    rig.remove();
  });

  hubReceiversContract('PostgreSQL', async () => {
    const url = await server.create();
    return () => onPostgres(url, { limit: 5_000, clock: new SystemClock(), log: new MemoryLog() });
  });
});
