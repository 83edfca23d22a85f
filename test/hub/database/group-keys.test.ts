import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { SqlGroupKeys, SqliteDatabase } from '../../../hub/database/index.ts';
import { groupKeysContract } from '../../contracts/hub-group-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-group-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

groupKeysContract('SQLite', async () => {
  const file = join(folder, `${++made}.sqlite`);
  const [one, two] = [await SqliteDatabase.open(file), await SqliteDatabase.open(file)];
  return {
    store: new SqlGroupKeys(one),
    other: new SqlGroupKeys(two),
    close: async () => {
      one.close();
      two.close();
    },
  };
});
