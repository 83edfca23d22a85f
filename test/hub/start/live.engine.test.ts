import { afterAll, beforeAll } from 'vitest';
import { hubLiveContract } from '../../contracts/hub-live.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubLiveContract(
    'PostgreSQL',
    async () => {
      const database = await server.create();
      const name = new URL(database).pathname.slice(1);
      const admin = new URL(database);
      admin.pathname = '/postgres';
      return {
        databases: [{ database }, { database }],
        silence: async () => {
          // The pooled connections stay. The notification connections end and cannot reconnect.
          await server.execute(
            admin.href,
            `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = '${name}' AND application_name = 'vigie hub: news'`,
          );
          return async () => {
            await server.execute(admin.href, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
          };
        },
      };
    },
    true,
  );
});
