import { afterAll, beforeAll } from 'vitest';
import { hubRestoreContract } from '../../contracts/hub-restore.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';

describePeer('initdb', 'PostgreSQL that is restored', () => {
  const server = new PostgresRig();
  beforeAll(async () => {
    await server.start();
  });
  afterAll(() => server.remove());
  hubRestoreContract('PostgreSQL', async () => {
    const database = await server.create();
    const name = new URL(database).pathname.slice(1);
    const elsewhere = database.replace(/[^/]+$/, 'postgres');
    return {
      options: { database },
      backUp: async () => {
        await server.execute(elsewhere, `CREATE DATABASE ${name}_copy TEMPLATE ${name}`);
      },
      restore: async () => {
        await server.execute(elsewhere, `DROP DATABASE ${name}`, `CREATE DATABASE ${name} TEMPLATE ${name}_copy`);
      },
      payloads: async () => {
        const rows = await server.execute(database, 'SELECT payload FROM messages');
        return rows.map(({ payload }) => payload as Uint8Array);
      },
    };
  });
});
