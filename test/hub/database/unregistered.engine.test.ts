import { afterAll, beforeAll } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { onPostgres } from '../../../hub/start/database.ts';
import { hubUnregisteredContract } from '../../contracts/hub-unregistered.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  hubUnregisteredContract('PostgreSQL', async (bounds) =>
    onPostgres(await server.create(), { limit: 100, clock: new SystemClock(), log: new MemoryLog(), bounds }),
  );
});
