import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onSqlite } from '../../../hub/start/database.ts';
import { databaseFile } from '../../../hub/start/folder.ts';
import { hubReadingsContract } from '../../contracts/hub-readings.ts';
import { MemoryLog } from '../../rig/log.ts';

hubReadingsContract('SQLite', async () => {
  const data = mkdtempSync(join(tmpdir(), 'vigie-readings-'));
  const file = databaseFile(data);
  return {
    options: { data },
    open: (readings) => onSqlite(file, 100, new MemoryLog(), { readings }),
    sql: async (query) => {
      const reader = new DatabaseSync(file, { readOnly: true });
      try {
        return reader
          .prepare(query)
          .all()
          .map((row) => ({ ...row }));
      } finally {
        reader.close();
      }
    },
    remove: async () => rmSync(data, { recursive: true }),
  };
});
