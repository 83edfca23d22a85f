import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { onPostgres } from '../../../hub/start/database.ts';
import { hubExitsContract, speedAt } from '../../contracts/hub-exits.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { NOON, OTHER } from '../messages.ts';

describePeer('initdb', 'PostgreSQL that hands messages to exits', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());
  const parts = { limit: 100, clock: new SystemClock(), log: new MemoryLog() };

  hubExitsContract('PostgreSQL', async () => onPostgres(await server.create(), parts));

  test('an exit does not pass a message that another hub has not committed yet', async () => {
    const url = await server.create();
    const hub = await onPostgres(url, parts);
    await hub.store.save([speedAt(NOON, 1, { seq: 0 })], []);
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    const store = (seq: number): Promise<unknown> =>
      other.query(`INSERT INTO messages (at, received, vehicle, seq, boot, class, kind, clock, payload)
        SELECT at, received, vehicle, ${seq}, boot, class, kind, clock, payload FROM messages WHERE seq = 0 LIMIT 1`);
    await other.query('BEGIN');
    await store(900);
    // Another car sends this one, because a hub locks the row of each car until it commits.
    await hub.store.save([speedAt(NOON, 2, { vin: OTHER, seq: 0 })], []);
    const { items, next } = await hub.exits.read(0, 10);
    expect([items, next]).toEqual([[], 0]);
    await other.query('COMMIT');
    const after = await hub.exits.read(0, 10);
    expect(after.items).toHaveLength(3);
    expect(after.next).toBe((after.items.at(-1)?.id ?? 0) + 1);
    // The ids of a commit that failed are passed.
    await other.query('BEGIN');
    await store(901);
    await hub.store.save([speedAt(NOON, 3, { vin: OTHER, seq: 1 })], []);
    expect((await hub.exits.read(after.next, 10)).items).toEqual([]);
    await other.query('ROLLBACK');
    expect((await hub.exits.read(after.next, 10)).items).toHaveLength(1);
    await other.end();
    await hub.close();
  });
});
