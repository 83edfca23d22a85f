import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { onSqlite } from '../../assembly/hub-database.ts';
import { hubClocksContract } from '../contracts/hub-clocks.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-clocks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

hubClocksContract('SQLite', () => onSqlite(join(folder, `${++made}.sqlite`), 100));
