import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { onSqlite } from '../../../hub/start/database.ts';
import { hubUnregisteredContract } from '../../contracts/hub-unregistered.ts';
import { MemoryLog } from '../../rig/log.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-unregistered-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

hubUnregisteredContract('SQLite', (bounds) =>
  onSqlite(join(folder, `${++made}.sqlite`), 100, new MemoryLog(), { bounds }),
);
