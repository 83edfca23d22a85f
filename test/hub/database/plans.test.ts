/** Execution plans of SQLite for all statements of a hub. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test, vi } from 'vitest';
import { onSqlite } from '../../../hub/start/database.ts';
import { FEW, useEveryQuery, wholeReads, withoutReason } from '../../contracts/hub-queries.ts';
import { MemoryLog } from '../../rig/log.ts';
import { plainSql, sqlIn } from '../../rig/sql-sources.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-plans-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sources = fileURLToPath(new URL('../../../hub/database/', import.meta.url));
/** Statements that create tables and triggers. */
const CREATING: ReadonlySet<string> = new Set(['format.ts', 'reading-tables.ts', 'record-counts.ts']);
/** PostgreSQL statements, and the backup, which copies the whole file. */
const ELSEWHERE: readonly string[] = [
  'extract(epoch FROM clock_timestamp())',
  'FOR UPDATE',
  'SELECT id FROM vehicles WHERE id IN',
  'VACUUM INTO ?',
  'SET at = at + ?, id = DEFAULT',
];

test('no SQLite statement scans a growing table, and the test covers every statement in the sources', async () => {
  const file = join(folder, 'hub.sqlite');
  const asked = new Set<string>();
  const { prepare } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, sql: string) {
    asked.add(sql);
    return prepare.call(this, sql);
  });
  // At most two events wait for a receiver: older ones are dropped.
  const hub = await onSqlite(file, 2, new MemoryLog(), { bounds: FEW, readings: 30 });
  await useEveryQuery(hub);
  await hub.close();
  vi.restoreAllMocks();

  const files = readdirSync(sources).filter((name) => name.endsWith('.ts') && !CREATING.has(name));
  const all = [...asked].map(plainSql).join('\n');
  const unknown = sqlIn(files.map((name) => join(sources, name))).filter(({ piece }) => !all.includes(piece));
  // If this fails, call the statement in useEveryQuery (test/contracts/hub-queries.ts).
  expect(unknown.filter(({ piece }) => !ELSEWHERE.some((part) => piece.includes(part)))).toEqual([]);

  const database = new DatabaseSync(file);
  // With foreign keys on, a plan also searches for rows that a new parent row could satisfy. That search runs only
  // while a constraint is violated (OP_FkIfZero, sqlite.org/opcode.html), which never happens here.
  database.exec('PRAGMA foreign_keys = OFF');
  const { unexpected, used } = await withoutReason(
    [...asked].filter((sql) => !/^(PRAGMA|VACUUM|CREATE)/.test(sql)),
    async (sql) => {
      const parameters = sql.match(/\?/g)?.map(() => 1) ?? [];
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
      return steps.flatMap(({ detail }) => /^SCAN (.*)/.exec(String(detail))?.[1] ?? []);
    },
  );
  database.close();
  expect(unexpected).toEqual([]);
  expect(wholeReads.filter(([sql]) => !used.has(sql))).toEqual([]);
});
