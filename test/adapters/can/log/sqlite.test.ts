/** Reading of SQLite databases by python-can. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openLog } from '../../../../adapters/can/log/index.ts';
import { anyFrames, type Frame, fileOf, inMicroseconds, readLog, readText } from './frames.ts';
import { asStored, database, sqlite, table } from './sqlite-writer.ts';

const foreign = join(dirname(fileURLToPath(import.meta.url)), 'foreign');
const start = 1_436_509_052_000;
const drive = (count: number): Frame[] =>
  Array.from({ length: count }, (_, i) => ({
    at: start + i,
    id: 0x100 + (i % 700),
    bus: 'can0',
    flags: 0,
    length: 8,
    data: i.toString(16).padStart(16, '0'),
  }));

test('frames are read back', async () => {
  await fc.assert(
    fc.asyncProperty(anyFrames({ fd: true, remote: true, sent: false }), async (frames) => {
      const read = await readText(sqlite(frames));
      expect(read).toMatchObject({ format: 'sqlite', messages: [] });
      expect(inMicroseconds(read.frames)).toEqual(inMicroseconds(asStored(frames)));
    }),
    { numRuns: 40, seed: 20_260_601 },
  );
});

test('more rows than a batch holds come in their order, also from a packed file', async () => {
  const frames = drive(10_000);
  const file = sqlite(frames);
  for (const content of [file, gzipSync(file)]) {
    const read = await readText(content);
    expect(read).toMatchObject({ format: 'sqlite', messages: [] });
    expect(read.frames).toEqual(frames);
  }
});

describe('each row comes once and in its order, whatever the row numbers', () => {
  const rows = drive(5_000);
  const values = rows.map(({ at, id, data }, i) => [at / 1000, id, data, i] as const);
  const frames = rows.map((frame) => ({ ...frame }));

  test.each<[string, string, (i: number) => string]>([
    ['numbers below zero', 'n INTEGER PRIMARY KEY', (i) => String(i - 2_500)],
    ['numbers with gaps', 'n INTEGER PRIMARY KEY', (i) => String(i * 1_000_003)],
    ['numbers of 63 bits', 'n INTEGER PRIMARY KEY', (i) => String(9_223_372_036_854_770_000n + BigInt(i))],
    ['columns named rowid and oid', 'rowid TEXT, oid TEXT', () => "'a', 'b'"],
    ['columns with every name of the row number', 'rowid TEXT, oid TEXT, _rowid_ TEXT', () => "'a', 'b', 'c'"],
  ])('%s', async (_, column, value) => {
    const made = values.map(([ts, id, data, i]) => `(${ts}, ${id}, x'${data}', ${value(i)})`);
    const file = database([
      `CREATE TABLE messages (ts REAL, arbitration_id INTEGER, data BLOB, ${column})`,
      `INSERT INTO messages VALUES ${made.join()}`,
    ]);
    const read = await readText(file);
    expect(read).toMatchObject({ format: 'sqlite', messages: [] });
    expect(read.frames).toEqual(frames);
  });

  test('a table without row numbers', async () => {
    const made = values.map(([ts, id, data, i]) => `(${ts}, ${id}, x'${data}', ${i})`);
    const file = database([
      'CREATE TABLE messages (ts REAL, arbitration_id INTEGER, data BLOB, n INTEGER PRIMARY KEY) WITHOUT ROWID',
      `INSERT INTO messages VALUES ${made.join()}`,
    ]);
    expect(await readText(file)).toMatchObject({ messages: [], frames });
  });

  test('a damaged row number loses rows only with a diagnostic, and reading ends', async () => {
    const file = sqlite(rows);
    // The row number precedes the header of its record: 8 bytes, a REAL, an integer of 16 bits.
    let lost = 0;
    for (const number of [1, 2, 3, 4].map((times) => times * 1024)) {
      const place = file.indexOf(Buffer.from([0x80 | (number >> 7), 0, 8, 7, 2])) + 1;
      expect(place).toBeGreaterThan(0);
      for (const value of [1, 0x40, 0x7f, 0xff]) {
        const broken = Buffer.from(file);
        broken[place] = value;
        const { frames: found, faults } = await readText(broken);
        expect(found.length).toBeLessThanOrEqual(rows.length);
        if (found.length < rows.length) {
          expect([number, value, faults]).not.toEqual([number, value, 0]);
          lost++;
        }
      }
    }
    // Otherwise no damage took effect.
    expect(lost).toBeGreaterThan(0);
  });
});

test('a table with another name is recognised by its columns, and some columns are optional', async () => {
  const read = await readText(
    database([
      'CREATE TABLE other (a)',
      'CREATE TABLE "my ""drive" (data BLOB, ts REAL, Arbitration_ID INTEGER)',
      `INSERT INTO "my ""drive" VALUES (x'0102', 1.5, 291), (x'03', 2, 419361024)`,
    ]),
  );
  expect(read.frames).toEqual([
    { at: 1500, id: 0x123, bus: 'can0', flags: 0, length: 2, data: '0102' },
    { at: 2000, id: 0x98fef100, bus: 'can0', flags: 0, length: 1, data: '03' },
  ]);
});

describe('rows that are not frames are left out with a reason', () => {
  test.each([
    ["(NULL, 1, 0, 0, 0, 0, x'')", 'there is no time'],
    ["('now', 1, 0, 0, 0, 0, x'')", 'there is no time'],
    ["(1, -1, 0, 0, 0, 0, x'')", 'there is no identifier of 29 bits, or no length'],
    ["(1, 536870912, 1, 0, 0, 0, x'')", 'there is no identifier of 29 bits, or no length'],
    ["(1, 1e300, 1, 0, 0, 0, x'')", 'there is no identifier of 29 bits, or no length'],
    ["(1, 1, 0, 0, 0, -5, x'')", 'there is no identifier of 29 bits, or no length'],
    ["(1, NULL, 0, 0, 0, 0, x'')", 'there is no identifier of 29 bits, or no length'],
    ["(1, 1, 0, 0, 0, 8, x'0102')", 'fewer bytes than the length says'],
    ['(1, 1, 0, 0, 0, 65, zeroblob(65))', 'more than 64 bytes of data'],
    ['(1, 1, 0, 0, 0, 8, zeroblob(10000000))', 'more than 64 bytes of data'],
    ['(1, 1, 0, 0, 0, 1, NULL)', 'fewer bytes than the length says'],
  ])('%s', async (values, reason) => {
    const row = "(1.5, 291, 0, 0, 0, 1, x'aa')";
    const log = await openLog(fileOf(database([table, `INSERT INTO messages VALUES ${row}, ${values}, ${row}`])));
    for await (const _ of log.batches());
    expect(log.frames).toBe(2);
    expect(log.leftOut).toMatchObject([{ reason, count: 1, example: { message: `row 2: ${reason}` } }]);
    await log.close();
  });
});

test('a view that would run endlessly is not read', async () => {
  const view = `CREATE VIEW messages AS WITH RECURSIVE r(ts) AS (SELECT 1 UNION ALL SELECT ts + 1 FROM r)
    SELECT ts, 1 AS arbitration_id, x'00' AS data FROM r`;
  await expect(openLog(fileOf(database(['CREATE TABLE drives (a)', view])))).rejects.toThrow(
    /the SQLite database has no table of CAN frames \(with the columns ts, arbitration_id, data\); it has the tables drives$/,
  );
});

test('a database cut anywhere yields the rows before the cut and a diagnostic', async () => {
  const frames = drive(700);
  const file = sqlite(frames);
  let most = 0;
  for (let cut = 16; cut < file.length; cut += cut < 8192 ? 61 : 509) {
    const read = await readText(file.subarray(0, cut), { format: 'sqlite' }).catch((error: Error) => error.message);
    if (typeof read === 'string') expect(read).toMatch(/the SQLite database (cannot be read|has no table)/);
    else {
      expect(read.frames).toEqual(frames.slice(0, read.frames.length));
      // For a truncated page SQLite returns empty rows; for a missing page it reports an error.
      expect([cut, read.faults]).not.toEqual([cut, 0]);
      expect(read.messages[0]).toMatch(
        /the SQLite database is damaged: .*; nothing behind row \d+ can be read$|there is no time$/,
      );
      most = Math.max(most, read.frames.length);
    }
  }
  expect(most).toBeGreaterThan(500);
});

test('a database that python-can wrote from frames of these tests', async () => {
  const read = await readLog(join(foreign, 'drive.db'));
  expect(read).toMatchObject({ format: 'sqlite', messages: [] });
  const { frames } = await readLog(join(foreign, 'drive.log'));
  const error = { at: 1_436_509_120_500, id: 0x2000_0080, bus: 'can0', flags: 0, length: 8, data: '0000000000000000' };
  expect(inMicroseconds(read.frames)).toEqual(inMicroseconds([...asStored(frames), error]));
});
