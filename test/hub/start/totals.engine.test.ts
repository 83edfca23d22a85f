import { afterAll, beforeAll } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { onPostgres } from '../../../hub/start/database.ts';
import { hubTotalsContract } from '../../contracts/hub-totals.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL that counts records', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());
  hubTotalsContract('PostgreSQL', 8, async () =>
    onPostgres(await server.create(), { limit: 100, clock: new SystemClock(), log: new MemoryLog() }),
  );
});
