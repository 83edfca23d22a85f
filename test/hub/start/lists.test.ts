import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import { SqliteDatabase, SqliteMessageStore, SqlRegistry } from '../../../hub/database/index.ts';
import { hubListsContract } from '../../contracts/hub-lists.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-lists-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

hubListsContract('SQLite', async () => {
  const database = await SqliteDatabase.open(join(folder, 'hub.sqlite'));
  return {
    store: new SqliteMessageStore(database, idOf),
    registry: new SqlRegistry(database),
    select: database.select,
    close: async () => database.close(),
  };
});
