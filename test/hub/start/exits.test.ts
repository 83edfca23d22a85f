import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { onSqlite } from '../../../hub/start/database.ts';
import { DAY } from '../../../protocol/calendar.ts';
import { hubExitsContract, speedAt } from '../../contracts/hub-exits.ts';
import { MemoryLog } from '../../rig/log.ts';
import { NOON } from '../messages.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-exits-'));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (): string => join(folder, `${++files}.db`);

hubExitsContract('SQLite', () => onSqlite(file(), 100, new MemoryLog()));

test('an SQLite file uses no id again, also after its newest messages were removed and the hub started again', async () => {
  const path = file();
  const first = await onSqlite(path, 100, new MemoryLog());
  await first.store.save([speedAt(NOON, 1, { seq: 0 }), speedAt(NOON, 2, { seq: 1 })], []);
  const { next } = await first.exits.read(0, 10);
  await first.exits.open('e');
  await first.exits.save('e', 0, { next, refused: 0 }, NOON);
  await first.retention.removeBefore('telemetry', NOON + DAY);
  await first.close();
  const second = await onSqlite(path, 100, new MemoryLog());
  await second.store.save([speedAt(NOON, 3, { seq: 2 })], []);
  const { items } = await second.exits.read(next, 10);
  expect(items.map(({ id }) => id)).toEqual([next]);
  await second.close();
});
