import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { SqliteDatabase } from '../../../hub/database/index.ts';
import { onSqlite } from '../../../hub/start/database.ts';
import { hubAuditContract } from '../../contracts/hub-audit.ts';
import { MemoryLog } from '../../rig/log.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-audit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

hubAuditContract('SQLite', async () => {
  const file = join(folder, `${++made}.sqlite`);
  // Only one hub uses an SQLite file.
  const hub = await onSqlite(file, 100, new MemoryLog());
  const raw = await SqliteDatabase.open(file);
  // Somebody who writes to the file has no checks either.
  raw.run('PRAGMA foreign_keys = OFF');
  return {
    ...{ hub, other: hub, raw },
    reopen: async () => (await SqliteDatabase.open(file)).close(),
    close: async () => {
      raw.close();
      await hub.close();
    },
  };
});
