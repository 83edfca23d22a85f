import { afterAll, beforeAll } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import { SqlRegistry } from '../../../hub/database/index.ts';
import { PostgresDatabase, PostgresMessageStore } from '../../../hub/database/postgres/index.ts';
import { hubListsContract } from '../../contracts/hub-lists.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubListsContract('PostgreSQL', async () => {
    const database = await PostgresDatabase.open(await server.create(), new MemoryLog());
    return {
      store: new PostgresMessageStore(database, idOf),
      registry: new SqlRegistry(database),
      select: database.select,
      close: () => database.close(),
    };
  });
});
