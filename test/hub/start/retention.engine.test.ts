import { afterAll, beforeAll } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { onPostgres } from '../../../hub/start/database.ts';
import { hubRetentionContract } from '../../contracts/hub-retention.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL that removes old messages', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());
  hubRetentionContract('PostgreSQL', async () =>
    onPostgres(await server.create(), { limit: 100, clock: new SystemClock(), log: new MemoryLog() }),
  );
});
