import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { onSqlite } from '../../../hub/start/database.ts';
import { hubClocksContract } from '../../contracts/hub-clocks.ts';
import { MemoryLog } from '../../rig/log.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-clocks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

hubClocksContract('SQLite', async () => {
  const data = join(folder, `${++made}`);
  mkdirSync(data);
  return { options: { data }, open: () => onSqlite(join(data, 'hub.sqlite'), 100, new MemoryLog()) };
});
