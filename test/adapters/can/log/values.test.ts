/** Tables of values from phone apps and data loggers, each layout by a separate writer. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contentsOf } from '../../../../adapters/can/log/contents.ts';
import { isValueTable, openValueTable } from '../../../../adapters/can/log/values/index.ts';
import { defined } from '../../../../protocol/defined.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { anyFileLog } from '../../../../scripts/fuzz/targets/file-logs.ts';
import { anyLog } from '../../../../scripts/fuzz/targets/logs.ts';
import { runs } from '../../../rig/runs.ts';
import { type Row, type ValueWriter, valueWriters } from './value-writers.ts';
import { zip } from './zip-writer.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-values-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(content: string | Uint8Array): string {
  const path = join(folder, 'values.csv');
  writeFileSync(path, content);
  return path;
}

async function isTable(path: string): Promise<boolean> {
  for await (const { bytes } of contentsOf(path)) if (await isValueTable(bytes)) return true;
  return false;
}

interface Read {
  readonly rows: readonly { readonly at: number; readonly values: Readonly<Record<string, number>> }[];
  readonly left: readonly string[];
  readonly passedOver: Readonly<Record<string, number>>;
  readonly assumptions: readonly string[];
  readonly units: Readonly<Record<string, string | undefined>>;
}

async function read(content: string | Uint8Array, zone?: string): Promise<Read> {
  for await (const { bytes } of contentsOf(file(content))) {
    const log = await openValueTable(bytes, 'values.csv', defined({ zone }));
    const rows: Read['rows'][number][] = [];
    for await (const { at, values } of log.rows()) {
      const named = log.columns.flatMap(({ signal }, place) => {
        const value = values[place];
        return value === undefined ? [] : [[signal, value] as const];
      });
      rows.push({ at, values: Object.fromEntries(named) });
    }
    return {
      rows,
      left: log.leftOut.map(({ reason }) => reason),
      passedOver: Object.fromEntries(log.passedOver),
      assumptions: log.assumptions,
      units: Object.fromEntries(log.columns.map(({ signal, unit }) => [signal, unit])),
    };
  }
  throw new Error('the archive is empty');
}

/** Values by time and signal, whatever their order in the table. */
function valuesOf({ rows }: Read, { digits = 9 }: ValueWriter): Map<string, number> {
  const found = new Map<string, number>();
  for (const { at, values } of rows) {
    for (const [signal, value] of Object.entries(values)) {
      found.set(`${at.toFixed(3)} ${signal.toLowerCase()}`, Number(value.toFixed(digits)));
    }
  }
  return found;
}

function expectedOf(rows: readonly Row[], { signals, elapsed, digits = 9 }: ValueWriter): Map<string, number> {
  const expected = new Map<string, number>();
  for (const { at, speed, rpm, coolant } of rows) {
    const time = at - (elapsed === true ? (rows[0]?.at ?? 0) : 0);
    for (const [i, value] of [speed, rpm, coolant].entries()) {
      if (value === undefined) continue;
      expected.set(`${time.toFixed(3)} ${(signals[i] as string).toLowerCase()}`, Number(value.toFixed(digits)));
    }
  }
  return expected;
}

/** In winter, so that Paris and Berlin are one hour ahead of UTC. */
const begin = Date.UTC(2026, 1, 14, 9, 30);
const drive: readonly Row[] = Array.from({ length: 40 }, (_, i) => ({
  at: begin + i * 1_007,
  speed: i * 1.5,
  rpm: 800 + i * 30,
  ...(i % 3 === 1 ? {} : { coolant: 70 + i / 4 }),
}));

test.each(valueWriters)('$layout: values are read back', async (writer) => {
  const content = writer.write(drive);
  expect(await isTable(file(content))).toBe(true);
  const found = await read(content, writer.zone);
  const only = new Set(writer.signals.map((signal) => signal.toLowerCase()));
  const values = [...valuesOf(found, writer)].filter(([key]) => only.has(key.slice(key.indexOf(' ') + 1)));
  expect(values).toEqual([...expectedOf(drive, writer)]);
  expect(found.left).toEqual([]);
});

test('any rows in any layout are read back', async () => {
  const row = fc.record({
    gap: fc.integer({ min: 1, max: 5_000 }),
    speed: fc.integer({ min: 0, max: 2_500 }).map((tenths) => tenths / 10),
    rpm: fc.integer({ min: 0, max: 8_000 }),
    coolant: fc.option(
      fc.integer({ min: 0, max: 1_200 }).map((tenths) => tenths / 10),
      { nil: undefined },
    ),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...valueWriters.filter(({ digits }) => digits === undefined)),
      fc.array(row, { minLength: 5, maxLength: 30 }),
      async (writer, gaps) => {
        let at = begin;
        const rows = gaps.map(({ gap, speed, rpm, coolant }) => {
          at += gap;
          return { at, speed, rpm, ...defined({ coolant }) };
        });
        // The reader needs one line with values in all columns, and one number with a decimal comma.
        const shown = [{ at: begin, speed: 0.5, rpm: 800, coolant: 20.5 }, ...rows];
        const found = await read(writer.write(shown), writer.zone);
        const only = new Set(writer.signals.map((signal) => signal.toLowerCase()));
        const values = [...valuesOf(found, writer)].filter(([key]) => only.has(key.slice(key.indexOf(' ') + 1)));
        expect(values).toEqual([...expectedOf(shown, writer)]);
      },
    ),
    { numRuns: runs(60, 2_000) },
  );
});

test.each(valueWriters)(
  '$layout: a table cut anywhere yields only written values, and reports what is missing',
  async (writer) => {
    const content = writer.write(drive);
    const expected = expectedOf(drive, { ...writer, digits: 3 });
    for (let length = 300; length < content.length; length += 97) {
      let found: Read;
      try {
        found = await read(content.slice(0, length), writer.zone);
      } catch (error) {
        expect(error).toBeInstanceOf(VigieError);
        continue;
      }
      // The last number may be truncated.
      const last = found.rows.at(-1)?.at;
      for (const [key, value] of valuesOf(found, { ...writer, digits: 3 })) {
        if (expected.has(key) && key !== `${last?.toFixed(3)}${key.slice(key.indexOf(' '))}`) {
          expect(value).toBe(expected.get(key));
        }
      }
      expect(found.left).toEqual([]);
    }
  },
);

test('gzip, zstd, zip and UTF-16 yield the same values as the plain table', async () => {
  const [writer] = valueWriters as [ValueWriter];
  const plain = await read(writer.write(drive));
  const ascii = writer.write(drive).replaceAll('°', '');
  expect(await read(gzipSync(writer.write(drive)))).toEqual(plain);
  expect(await read(zstdCompressSync(writer.write(drive)))).toEqual(plain);
  const entry = { name: 'drive.csv', data: Buffer.from(writer.write(drive)) };
  expect(await read(zip([entry]))).toEqual(plain);
  expect((await read(Buffer.from(`\ufeff${ascii}`, 'utf16le'))).rows).toEqual(plain.rows);
});

test('local times use the given zone, also across the change to summer time; without a zone UTC is assumed', async () => {
  const table = 'Date/Time,Speed (km/h)\n2026-03-29 01:30:00,10\n2026-03-29 03:30:00,20\n';
  const paris = await read(table, 'Europe/Paris');
  expect(paris.rows.map(({ at }) => new Date(at).toISOString())).toEqual([
    '2026-03-29T00:30:00.000Z',
    '2026-03-29T01:30:00.000Z',
  ]);
  expect(paris.assumptions).toEqual([]);
  const utc = await read(table);
  expect(utc.rows[0]?.at).toBe(Date.UTC(2026, 2, 29, 1, 30));
  expect(utc.assumptions).toEqual(['local times were read as UTC (--time-zone Europe/Paris, if not)']);
});

test.each([
  ['a zone in the text', 'Time,v (km/h)\nSat Mar 14 10:00:01 GMT+02:00 2026,5\n', Date.UTC(2026, 2, 14, 8, 0, 1)],
  ['an offset', 'Time,v (km/h)\n2026-03-14T10:00:01.250+01:00,5\n', Date.UTC(2026, 2, 14, 9, 0, 1, 250)],
  ['nanoseconds', 'time,v (km/h)\n1773482401250000000,5\n', 1_773_482_401_250],
  ['the day before the month', 'Time,v (km/h)\n14/03/2026 10:00:01,5\n', Date.UTC(2026, 2, 14, 10, 0, 1)],
])('a time with %s', async (_, table, at) => {
  expect((await read(table)).rows).toEqual([{ at, values: { v: 5 } }]);
});

test('the engine run time serves as the time if no column is a time; empty brackets are not part of a name', async () => {
  const { rows, assumptions } = await read(
    'ENGINE_RUN_TINE (),VEHICLE_SPEED ()\n7.000000, 13.000000\n8.000000, 14.5\n',
  );
  expect(rows).toEqual([
    { at: 7_000, values: { VEHICLE_SPEED: 13 } },
    { at: 8_000, values: { VEHICLE_SPEED: 14.5 } },
  ]);
  expect(assumptions[0]).toBe('the run time of the engine was read as the time');
  const timed = await read('time,Engine run time (s)\n2026-03-14T10:00:01Z,7\n');
  expect(timed.rows).toEqual([{ at: Date.UTC(2026, 2, 14, 10, 0, 1), values: { Engine_run_time: 7 } }]);
});

test('times of day continue after midnight', async () => {
  const { rows, assumptions } = await read('Time,v (km/h)\n23:59:59.5,1\n00:00:00.5,2\n');
  expect((rows[1]?.at ?? 0) - (rows[0]?.at ?? 0)).toBe(1_000);
  expect(assumptions).toEqual(['the table has no date: times count from 1970-01-01']);
});

test('ambiguous input is reported: thousands, month before day, unit of whole numbers', async () => {
  const thousands = await read('Time;x\n2026-03-14T10:00:00Z;1,234\n');
  expect(thousands.rows[0]?.values).toEqual({ x: 1.234 });
  expect(thousands.assumptions).toEqual(['a comma was read as the decimal mark: 1,234 as 1.234']);
  expect((await read('Time,x\n3/4/2026 10:00:00,1\n')).assumptions[0]).toContain('month/day/year');
  expect((await read('Time,x\n0,1\n100,2\n200,3\n')).assumptions[0]).toContain('milliseconds');
});

test('units in headers are converted to those of Status', async () => {
  const { rows, units } = await read(
    'time (s),Speed (mph),Temp [°F],Pressure (bar),G(x),accel_y (m/s^2),Odometer (miles),Torque (Nm),Free text (odd)\n0.5,10,212,1.5,-1,2.5,100,12,3\n',
  );
  expect(rows[0]?.values).toEqual({
    Speed: 16.09344,
    Temp: 100,
    Pressure: 150,
    G_x: -9.80665,
    accel_y: 2.5,
    Odometer: 160.9344,
    Torque: 12,
    Free_text_odd: 3,
  });
  expect(units).toMatchObject({ Speed: 'km/h', Temp: '°C', Pressure: 'kPa', G_x: 'm/s²', Free_text_odd: undefined });
});

test('unreadable lines are counted with their reason, and others are read', async () => {
  const sound = Array.from({ length: 20 }, (_, i) => `2026-03-14T09:00:${10 + i}Z,3\n`).join('');
  const { rows, left, passedOver } = await read(
    `Time,v (km/h)\n${sound}2026-03-14T10:00:00Z,1\n# a remark\nyesterday,2\n2026-03-14T10:00:02Z,fast\n2026-03-14T10:00:03Z,4,5,6,7\n2026-03-14T10:00:04Z,\n2026-03-14T10:00:05Z,6\n`,
  );
  expect(rows.slice(20).map(({ values }) => values['v'])).toEqual([1, undefined, 6]);
  expect(left).toEqual([
    'the time cannot be read',
    'v is not a number: fast',
    'the line has 5 columns, the names are 2',
  ]);
  expect(passedOver).toEqual({ comments: 1 });
});

test.each([
  ['a table of frames', 'Time,ID,DLC,Data\n0.1,1A0,2,0102\n0.2,1A0,2,0102\n'],
  ['frames without names', '0.100 1A0 2 01 02\n0.200 1A0 2 01 03\n'],
  ['candump', '(0.100000) can0 1A0#0102\n(0.200000) can0 1A0#0102\n'],
  ['a table without a time', 'a,b\n1,2\n3,4\n'],
  ['names without values', 'time,speed\n'],
  ['text', 'Dear reader,\nthis, as you see, is not a table\n'],
  ['nothing', ''],
])('%s is not a table of values', async (_, content) => {
  expect(await isTable(file(content))).toBe(false);
  await expect(read(content)).rejects.toThrow('not a table of values');
});

test('a log of frames of any format is not a table of values', async () => {
  const logs = [...anyLog(), ...anyFileLog()];
  expect(logs.length).toBeGreaterThan(10);
  for (const log of logs)
    expect(await isTable(file(log)), Buffer.from(log).toString('latin1').slice(0, 200)).toBe(false);
});
