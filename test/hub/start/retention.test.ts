import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { onSqlite } from '../../../hub/start/database.ts';
import { hubRetentionContract } from '../../contracts/hub-retention.ts';
import { MemoryLog } from '../../rig/log.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-retention-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

hubRetentionContract('SQLite', () => onSqlite(join(folder, `${++made}.sqlite`), 100, new MemoryLog()));
