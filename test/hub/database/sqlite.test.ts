import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test, vi } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import { FORMAT } from '../../../hub/database/format.ts';
import {
  SqliteCommandStore,
  SqliteDatabase,
  SqliteMessageStore,
  SqlReader,
  SqlRegistry,
} from '../../../hub/database/index.ts';
import { hubRepetitionsContract } from '../../contracts/hub-repetitions.ts';
import { type HubStoreUnderTest, hubStoreContract, useEveryQuery } from '../../contracts/hub-store.ts';
import { NOON, ONE, OTHER, received, trip } from '../messages.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-database-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
const newFile = (): string => join(folder, `${++made}.sqlite`);

const create = async (): Promise<HubStoreUnderTest> => {
  const file = newFile();
  let database = await SqliteDatabase.open(file);
  let store = new SqliteMessageStore(database, idOf);
  return {
    get store() {
      return store;
    },
    get commands() {
      return new SqliteCommandStore(database);
    },
    get reader() {
      return new SqlReader(database.select);
    },
    get registry() {
      return new SqlRegistry(database);
    },
    payloads: async (vin) =>
      database
        .all(
          `SELECT payload FROM messages JOIN vehicles ON vehicles.id = vehicle WHERE vin = ?
           ORDER BY class, seq, boot`,
          vin,
        )
        .map(({ payload }) => payload as Uint8Array),
    remove: async (vin) => {
      database.run('DELETE FROM messages WHERE vehicle = (SELECT id FROM vehicles WHERE vin = ?)', vin);
    },
    reopen: async () => {
      database.close();
      database = await SqliteDatabase.open(file);
      store = new SqliteMessageStore(database, idOf);
    },
    close: async () => database.close(),
  };
};

hubStoreContract('SQLite', create);
hubRepetitionsContract('SQLite', create);

test('a car is found by its id with one read statement, however many cars are new', async () => {
  const database = await SqliteDatabase.open(newFile());
  await new SqliteMessageStore(database, idOf).save(
    [received('trip', trip('a')), received('trip', trip('b'), { vin: OTHER })],
    [],
  );
  const asked: string[] = [];
  const reader = new SqlReader((sql, ...values) => {
    asked.push(sql.slice(0, 6));
    return database.select(sql, ...values);
  });
  const found = await Promise.all([idOf(ONE), idOf(OTHER), 'nobody'].map((id) => reader.viewById(id)));
  expect(found.map((vehicle) => vehicle?.vin)).toEqual([ONE, OTHER, undefined]);
  expect(asked).toEqual(['SELECT', 'SELECT', 'SELECT']);
  database.close();
});

test('only the newest thousand unreadable messages are stored', async () => {
  const database = await SqliteDatabase.open(newFile());
  const store = new SqliteMessageStore(database, idOf);
  const refused = Array.from({ length: 1_200 }, (_, index) => ({
    topic: `t${index}`,
    reason: 'not a message',
    payload: Uint8Array.of(1),
    received: NOON,
  }));
  await store.save([], refused.slice(0, 700));
  await store.save([], refused.slice(700));
  const kept = database.all('SELECT topic FROM refused ORDER BY id').map(({ topic }) => topic);
  expect(kept).toEqual(refused.slice(200).map(({ topic }) => topic));
  database.close();
});

test('a commit is durable when it ends: every write of the WAL is synced', async () => {
  const database = await SqliteDatabase.open(newFile());
  expect(database.one('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
  // Value 2 is FULL.
  expect(database.one('PRAGMA synchronous')).toEqual({ synchronous: 2 });
  database.close();
});

test.each([
  ['newer', FORMAT + 1],
  ['older', 1],
])('a database of a %s format is refused and left unchanged', async (_, format) => {
  const file = newFile();
  (await SqliteDatabase.open(file)).close();
  const other = new DatabaseSync(file);
  other.exec(`PRAGMA user_version = ${format}`);
  other.close();
  await expect(SqliteDatabase.open(file)).rejects.toThrow(
    `${file}: has format ${format}, but this Vigie reads only format ${FORMAT}: install the version that wrote it`,
  );
  const after = new DatabaseSync(file);
  expect(after.prepare('PRAGMA user_version').get()).toEqual({ user_version: format });
  after.close();
});

test('a database of the previous format is upgraded', async () => {
  const file = newFile();
  const first = await SqliteDatabase.open(file);
  await new SqliteMessageStore(first, idOf).save([received('trip', trip('a'))], []);
  // SQLite writes an added column behind the others, in its own spelling.
  const columns = (database: SqliteDatabase) =>
    database.all(`SELECT tables.name AS place, columns.name, columns.type, columns."notnull", columns.pk
      FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns ORDER BY 1, 2`);
  const objects = (database: SqliteDatabase) => database.all('SELECT type, name FROM sqlite_schema ORDER BY 1, 2');
  const fresh = [columns(first), objects(first)];
  for (const name of ['added', 'changed', 'removed', 'joined', 'left']) first.run(`DROP TRIGGER count_${name}`);
  first.run('DROP TABLE record_counts');
  first.run('DROP TABLE trusted_keys');
  first.run('DROP TABLE exits');
  for (const view of ['vehicle', 'reading', 'latest', 'trip']) first.run(`DROP VIEW ${view}`);
  first.run('DROP TABLE readings');
  first.run('DROP TABLE paths');
  first.run('DROP TABLE audit');
  first.run('ALTER TABLE numbers DROP COLUMN unsure_below');
  first.run('ALTER TABLE records DROP COLUMN trip_class');
  first.run('PRAGMA user_version = 6');
  first.close();
  const database = await SqliteDatabase.open(file);
  expect(database.one('SELECT fleet, collection, n FROM record_counts')).toEqual({
    fleet: '',
    collection: 'trip',
    n: 1,
  });
  expect(database.one('PRAGMA user_version')).toEqual({ user_version: FORMAT });
  expect([columns(database), objects(database)]).toEqual(fresh);
  database.close();
});

test('the database of another program is refused and left unchanged', async () => {
  const file = newFile();
  const foreign = new DatabaseSync(file);
  foreign.exec('CREATE TABLE theirs (x)');
  foreign.close();
  await expect(SqliteDatabase.open(file)).rejects.toThrow('is the database of another program');
  const after = new DatabaseSync(file);
  expect(after.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()).toEqual([{ name: 'theirs' }]);
  after.close();
});

test('a file that is not a database is refused with its name in the error', async () => {
  const file = newFile();
  writeFileSync(file, 'not a database, but as long as the head of one: '.repeat(20));
  await expect(SqliteDatabase.open(file)).rejects.toThrow(/sqlite: cannot be opened as the database of the hub: /);
});

test('a Node without SQLite gets a one-line error that says which Node to use', async () => {
  vi.resetModules();
  vi.doMock('node:sqlite', () => {
    throw new Error('No such built-in module: node:sqlite');
  });
  try {
    const older = await import('../../../hub/database/index.ts');
    await expect(older.SqliteDatabase.open(newFile())).rejects.toThrow(
      /the hub needs SQLite, which Node \S+ does not have: use Node 24 or newer$/,
    );
  } finally {
    vi.doUnmock('node:sqlite');
    vi.resetModules();
  }
});

test('queries use indexes: none scans or sorts a whole table', async () => {
  const database = await SqliteDatabase.open(newFile());
  const asked = new Set<string>();
  for (const name of ['all', 'one', 'run'] as const) {
    const real = database[name].bind(database) as (sql: string, ...values: never[]) => never;
    vi.spyOn(database, name).mockImplementation((sql: string, ...values: unknown[]) => {
      asked.add(sql);
      return real(sql, ...(values as never[]));
    });
  }
  await useEveryQuery({
    store: new SqliteMessageStore(database, idOf),
    reader: new SqlReader(database.select),
    commands: new SqliteCommandStore(database),
  });
  vi.restoreAllMocks();
  expect(asked.size).toBeGreaterThan(30);
  // With foreign keys on, a plan also searches for rows that a new parent row could satisfy. That search runs only
  // while a constraint is violated (OP_FkIfZero, sqlite.org/opcode.html), which never happens here.
  database.run('PRAGMA foreign_keys = OFF');
  const plans = [...asked].map((sql) => {
    const parameters = sql.match(/\?/g)?.map(() => 1) ?? [];
    const steps = database.all(`EXPLAIN QUERY PLAN ${sql}`, ...parameters).map(({ detail }) => String(detail));
    // A plan scans `page` to return its rows after it has found the page, and `given`, which are values of the query.
    const own = steps.filter(
      (step) => !/^SCAN (page|given|CONSTANT ROW|\d+ CONSTANT ROWS|\d+-ROW VALUES CLAUSE)$/.test(step),
    );
    return { sql, steps: own.filter((step) => step.startsWith('SCAN') || step.includes('TEMP B-TREE')) };
  });
  // Totals of missing numbers scan only the rows that have some.
  expect(plans.filter(({ steps }) => steps.length > 0)).toEqual([
    {
      sql: expect.stringContaining('FROM numbers\n       WHERE missing > 0 GROUP BY class'),
      steps: ['SCAN numbers USING COVERING INDEX missing_numbers'],
    },
  ]);
  database.close();
});
