import { join } from 'node:path';
import { SqliteDatabase } from '../../../hub/database/index.ts';
import { hubLivesContract } from '../../contracts/hub-lives.ts';

hubLivesContract('SQLite', async () => ({
  options: {},
  payloads: async (data) => {
    const database = await SqliteDatabase.open(join(data, 'hub.sqlite'));
    const rows = database.all('SELECT payload FROM messages');
    database.close();
    return rows.map(({ payload }) => payload as Uint8Array);
  },
}));
