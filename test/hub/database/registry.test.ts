import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import {
  SqliteCommandStore,
  SqliteDatabase,
  SqliteMessageStore,
  SqlMonitors,
  SqlReader,
  SqlRegistry,
  SqlRetention,
  SqlRollouts,
} from '../../../hub/database/index.ts';
import { hubRegistryContract } from '../../contracts/hub-registry.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-registry-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

hubRegistryContract('SQLite', async () => {
  const file = join(folder, `${++made}.sqlite`);
  // The hub keeps the file open while another process changes the registry.
  const [database, other] = [await SqliteDatabase.open(file), await SqliteDatabase.open(file)];
  return {
    store: new SqliteMessageStore(database, idOf, undefined, undefined, true),
    reader: new SqlReader(database.select),
    commands: new SqliteCommandStore(database),
    registry: new SqlRegistry(other),
    rollouts: new SqlRollouts(other),
    retention: new SqlRetention(other, ''),
    monitors: new SqlMonitors(other),
    rows: async () => {
      const tables = database.all(
        `SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name = 'vehicle'`,
      );
      return Object.fromEntries(
        tables.map(({ name }) => [String(name), Number(database.one(`SELECT count(*) AS n FROM ${name}`)?.['n'])]),
      );
    },
    files: async () =>
      Buffer.concat(
        ['', '-wal', '-shm', '-journal']
          .map((end) => file + end)
          .filter(existsSync)
          .map((path) => readFileSync(path)),
      ),
    close: async () => {
      database.close();
      other.close();
    },
  };
});
