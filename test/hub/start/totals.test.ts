import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { onSqlite } from '../../../hub/start/database.ts';
import { hubTotalsContract } from '../../contracts/hub-totals.ts';
import { MemoryLog } from '../../rig/log.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-totals-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

hubTotalsContract('SQLite', 30, () => onSqlite(join(folder, `${++made}.sqlite`), 100, new MemoryLog()));
