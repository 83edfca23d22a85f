import { afterAll, beforeAll } from 'vitest';
import { SqlGroupKeys } from '../../../hub/database/index.ts';
import { PostgresDatabase } from '../../../hub/database/postgres/index.ts';
import { groupKeysContract } from '../../contracts/hub-group-keys.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  const log = new MemoryLog();
  beforeAll(() => server.start());
  afterAll(() => server.remove());

  groupKeysContract('PostgreSQL', async () => {
    const url = await server.create();
    const [one, two] = [await PostgresDatabase.open(url, log), await PostgresDatabase.open(url, log)];
    return {
      store: new SqlGroupKeys(one),
      other: new SqlGroupKeys(two),
      close: async () => {
        await one.close();
        await two.close();
      },
    };
  });
});
