import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteDatabase } from '../../../hub/database/index.ts';
import { hubRestoreContract } from '../../contracts/hub-restore.ts';

const FILE = 'hub.sqlite';
const COPY = 'copy.sqlite';

hubRestoreContract('SQLite', async () => ({
  options: {},
  backUp: async (data) => {
    const database = await SqliteDatabase.open(join(data, FILE));
    database.run('VACUUM INTO ?', join(data, COPY));
    database.close();
  },
  restore: async (data) => {
    for (const ending of ['', '-wal', '-shm']) rmSync(join(data, `${FILE}${ending}`), { force: true });
    copyFileSync(join(data, COPY), join(data, FILE));
  },
  payloads: async (data) => {
    const database = await SqliteDatabase.open(join(data, FILE));
    const rows = database.all('SELECT payload FROM messages');
    database.close();
    return rows.map(({ payload }) => payload as Uint8Array);
  },
}));
