/** `vigie export` writes every reading at its own time in each format, and lists what is missing. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../../adapters/store/index.ts';
import type { Gap } from '../../../protocol/schema/gap.ts';
import { type Reading, readingsFromTelemetry, telemetryFromReadings } from '../../../protocol/schema/telemetry.ts';
import { slotAt } from '../../../protocol/slots.ts';
import { NOON, ONE, OTHER, payloadOf, trip } from '../../hub/messages.ts';
import { vigie } from '../../rig/bench.ts';
import { csvRows, readingsOfRows, textOfReading } from '../../rig/exported-readings.ts';
import { MemoryLog } from '../../rig/log.ts';
import { runs } from '../../rig/runs.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-export-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SPEED = slotAt('kinetic.speed');
const BATTERY = slotAt('energies.Electric.level');
const MOVING = slotAt('kinetic.moving');
const DOOR = slotAt('doorsState.opening.Driver.state');
const MILEAGE = slotAt('odometer.mileage');

const reading: fc.Arbitrary<Reading> = fc
  .tuple(fc.constantFrom(SPEED, BATTERY, MOVING, MILEAGE), fc.integer({ min: 0, max: 900 }), fc.nat(200))
  .map(([slot, count, ms]) => {
    const value = slot === MOVING ? count % 2 === 0 : slot === MILEAGE ? count : Math.round(count) / 10;
    return { slot, value, at: NOON + ms };
  });

/** Messages of a car, in any order, whose readings overlap in time. */
const messages = fc.array(fc.array(reading, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 6 });

const telemetry = (readings: readonly Reading[], seq: number, more: object = {}): Uint8Array =>
  payloadOf('telemetry', telemetryFromReadings(readings.toSorted((a, b) => a.at - b.at)), { seq, ...more });

function sequence(payloads: readonly Uint8Array[]): string {
  const file = join(folder, 'messages.cbor');
  writeFileSync(file, Buffer.concat(payloads));
  return file;
}

async function exported(input: string, format: string, ...more: string[]) {
  const output = join(folder, `out.${format}`);
  const ended = await vigie('export', ONE, '--input', input, '--format', format, '-o', output, ...more);
  expect(ended.status, ended.stderr).toBeLessThan(2);
  const manifest = JSON.parse(readFileSync(`${output}.manifest.json`, 'utf8'));
  return { ...ended, output, manifest, text: () => readFileSync(output, 'utf8') };
}

function gpxReadings(text: string): string[] {
  return [...text.matchAll(/<vigie:row time="([^"]*)">(.*?)<\/vigie:row>/g)]
    .flatMap(([, time = '', values = '']) =>
      [...values.matchAll(/name="([^"]*)"[^>]*>([^<]*)</g)].map(([, name = '', value = '']) =>
        textOfReading(name, Date.parse(time), value),
      ),
    )
    .sort();
}

describe('readings', () => {
  test('every format has exactly the readings of the messages, two of one millisecond included', async () => {
    await fc.assert(
      fc.asyncProperty(messages, async (batches) => {
        const payloads = batches.map((batch, seq) => telemetry(batch, seq));
        const expected = batches
          .flatMap((batch) => readingsFromTelemetry(telemetryFromReadings(batch.toSorted((a, b) => a.at - b.at))))
          .map(({ at, slot, value }) => textOfReading(slot.path, at, value))
          .sort();
        const input = sequence(payloads);
        const csv = await exported(input, 'csv');
        expect(csv.status, csv.stderr).toBe(0);
        expect(readingsOfRows(csvRows(csv.text()))).toEqual(expected);
        expect(csv.manifest.entries).toBe(expected.length);
        const ndjson = (await exported(input, 'ndjson')).text().trim().split('\n');
        expect(readingsOfRows(ndjson.map((line) => JSON.parse(line)))).toEqual(expected);
        const parquet = await exported(input, 'parquet');
        const file = await asyncBufferFromFile(parquet.output);
        expect(readingsOfRows(await parquetReadObjects({ file }))).toEqual(expected);
        const geojson = JSON.parse((await exported(input, 'geojson')).text());
        expect(readingsOfRows(geojson.features.map((one: { properties: object }) => one.properties))).toEqual(expected);
        expect(gpxReadings((await exported(input, 'gpx')).text())).toEqual(expected);
      }),
      { numRuns: runs(8, 200) },
    );
  });

  test('rows ascend by time although messages arrive out of order', async () => {
    const at = (ms: number, value: number): Reading => ({ slot: SPEED, value, at: NOON + ms });
    const input = sequence([telemetry([at(500, 5), at(900, 9)], 1), telemetry([at(0, 1), at(700, 7)], 0)]);
    const rows = csvRows((await exported(input, 'csv')).text());
    expect(rows.map((row) => row['kinetic.speed [km/h]'])).toEqual(['1', '5', '7', '9']);
    expect(rows[0]?.['time']).toBe('2026-11-10T12:00:00.000Z');
  });

  test('DuckDB reads the Parquet file with its types', async () => {
    const input = sequence([
      telemetry(
        [
          { slot: SPEED, value: 52.5, at: NOON },
          { slot: MOVING, value: true, at: NOON },
          { slot: DOOR, value: 'Open', at: NOON + 1 },
        ],
        0,
      ),
    ]);
    const { output } = await exported(input, 'parquet');
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const read = await connection.runAndReadAll(
      `SELECT epoch_ms("time") AS epoch, "time [ms]" AS ms, "kinetic.speed [km/h]" AS speed, "kinetic.moving" AS moving,
       "doorsState.opening.Driver.state" AS door FROM '${output}' ORDER BY 1`,
    );
    expect(read.getRowObjects()).toEqual([
      { epoch: BigInt(NOON), ms: BigInt(NOON), speed: 52.5, moving: true, door: null },
      { epoch: BigInt(NOON + 1), ms: BigInt(NOON + 1), speed: null, moving: null, door: 'Open' },
    ]);
    connection.closeSync();
    instance.closeSync();
  });

  test('VSS names have the units of VSS, other columns keep their paths', async () => {
    const input = sequence([
      telemetry(
        [
          { slot: MILEAGE, value: 12_345.6, at: NOON },
          { slot: BATTERY, value: 80, at: NOON },
          { slot: DOOR, value: 'Closed', at: NOON },
        ],
        0,
      ),
    ]);
    const [row] = csvRows((await exported(input, 'csv', '--names', 'vss')).text());
    expect(row).toMatchObject({
      'Vehicle.TraveledDistance [m]': '12345600',
      'Vehicle.Powertrain.TractionBattery.StateOfCharge.Displayed [%]': '80',
      'doorsState.opening.Driver.state': 'Closed',
    });
  });

  test('the period is cut at each reading, not at each message', async () => {
    const all = [0, 1_000, 2_000].map((ms): Reading => ({ slot: SPEED, value: ms / 100, at: NOON + ms }));
    const cut = ['--from', '2026-11-10T12:00:01Z', '--to', '2026-11-10T12:00:02Z'];
    const { text, manifest } = await exported(sequence([telemetry(all, 0)]), 'csv', ...cut);
    expect(csvRows(text()).map((row) => row['kinetic.speed [km/h]'])).toEqual(['10']);
    expect(manifest.classes[0].boots).toEqual([{ boot: 1, covered: [[0, 0]] }]);
  });

  test('readings from before the clock was known get the correction of their start', async () => {
    const early = telemetry([{ slot: SPEED, value: 1, at: 5_000 }], 0, { clock: 'none', at: 6_000 });
    const hello = { version: '1', protocol: 1, boot: 1, profile: 'small', startedAt: 0, behind: NOON };
    const { text } = await exported(sequence([early, payloadOf('hello', hello, { seq: 0 })]), 'csv');
    expect(csvRows(text())[0]?.['time [ms]']).toBe(String(NOON + 5_000));
  });

  test('a route is a track with heights, and a gap begins another segment', async () => {
    const point = (ms: number, latitude: number, more: object = {}) => {
      return { at: NOON + ms, latitude, longitude: 2.5, altitude: 35, type: 'Acquire' as const, ...more };
    };
    const points = [point(0, 48.8), point(1_000, 48.9), point(60_000, 49, { gap: true })];
    const speed = telemetry([{ slot: SPEED, value: 50, at: NOON + 500 }], 0);
    const input = sequence([payloadOf('waypoint', { points }, { seq: 0 }), speed]);
    const gpx = (await exported(input, 'gpx')).text();
    expect(gpx.match(/<trkseg>/g)).toHaveLength(2);
    expect(
      gpx.match(/<trkpt lat="48\.8000000" lon="2\.5000000"><ele>35<\/ele><time>2026-11-10T12:00:00\.000Z<\/time>/),
    ).not.toBeNull();
    const first = gpx.slice(gpx.indexOf('48.8000000'), gpx.indexOf('48.9000000'));
    expect(first).toContain('<vigie:value name="kinetic.speed" unit="km/h">50</vigie:value>');
    const geojson = JSON.parse((await exported(input, 'geojson')).text());
    expect(geojson.features.map((one: { geometry: unknown }) => one.geometry)).toEqual([
      { type: 'Point', coordinates: [2.5, 48.8, 35] },
      null,
      { type: 'Point', coordinates: [2.5, 48.9, 35] },
      { type: 'Point', coordinates: [2.5, 49, 35] },
    ]);
  });
});

describe('the manifest', () => {
  const at = (seq: number): Uint8Array => telemetry([{ slot: SPEED, value: seq, at: NOON + seq * 60_000 }], seq);

  test('a missing message is named, and the exit status is 1', async () => {
    const { status, stderr, manifest } = await exported(sequence([at(0), at(1), at(4)]), 'csv');
    expect(status).toBe(1);
    expect(stderr).toContain('telemetry: 2 messages missing: 2-3');
    expect(manifest.classes).toEqual([
      expect.objectContaining({
        class: 5,
        boots: [
          {
            boot: 1,
            covered: [
              [0, 1],
              [4, 4],
            ],
          },
        ],
        missing: [[2, 3]],
      }),
    ]);
  });

  test('messages that the car gave up are no missing ones', async () => {
    const gap: Gap = { class: 5, count: 2, numbers: [[2, 3]] };
    const given = sequence([at(0), at(1), payloadOf('gap', gap, { seq: 0 }), at(4)]);
    const { status, stderr, manifest } = await exported(given, 'csv');
    expect(status, stderr).toBe(0);
    expect(stderr).toContain('telemetry: 2 messages given up by the car: 2-3');
    expect(manifest.classes[0]).toMatchObject({ givenUp: [[2, 3]], missing: [] });
  });

  test('a message that is missing at the edge of the period counts, one outside does not', async () => {
    const input = sequence([at(0), at(2), at(3), at(5), at(6), at(8)]);
    const cut = ['--from', '2026-11-10T12:02:30Z', '--to', '2026-11-10T12:05:30Z'];
    const { manifest } = await exported(input, 'csv', ...cut);
    expect(manifest.classes[0]).toMatchObject({
      boots: [
        {
          boot: 1,
          covered: [
            [3, 3],
            [5, 5],
          ],
        },
      ],
      missing: [[4, 4]],
    });
  });
});

describe('records and trips', () => {
  const place = (latitude: number) => {
    const coordinates: [number, number] = [2.5, latitude];
    const geometry = { type: 'Point' as const, coordinates };
    return { type: 'Feature' as const, geometry, properties: { createdAt: NOON } };
  };
  const ended = {
    done: true,
    stoppedAt: NOON,
    duration: 60,
    distance: 12.34,
    startPosition: place(48.8),
    stopPosition: place(48.9),
    energyConsumptions: [{ type: 'Electric' as const, consumption: 1_500 }],
  };

  test('a trip is one line of the logbook, in its newest form', async () => {
    const input = sequence([
      payloadOf('trip', trip('0123456789abcdef01234567', ended), { seq: 1 }),
      payloadOf('trip', trip('0123456789abcdef01234567'), { seq: 0 }),
    ]);
    const { text, manifest } = await exported(input, 'csv', '--content', 'trips');
    expect(csvRows(text())).toEqual([
      expect.objectContaining({
        start: '2026-11-10T11:59:00.000Z',
        end: '2026-11-10T12:00:00.000Z',
        done: 'true',
        'start.latitude [deg]': '48.8',
        'end.latitude [deg]': '48.9',
        'distance [km]': '12.34',
        'duration [s]': '60',
        'electric [Wh]': '1500',
      }),
    ]);
    expect(manifest.entries).toBe(1);
  });

  test('records have kind, number, place and body', async () => {
    const input = sequence([payloadOf('trip', trip('0123456789abcdef01234567', ended), { seq: 4, boot: 2 })]);
    const [line] = (await exported(input, 'ndjson', '--content', 'records')).text().trim().split('\n');
    expect(JSON.parse(line as string)).toMatchObject({
      kind: 'trip',
      id: '0123456789abcdef01234567',
      boot: 2,
      seq: 4,
      'latitude [deg]': 48.8,
      body: { done: true, distance: 12.34 },
    });
  });
});

describe('the folder of a car', () => {
  test('acknowledged and waiting messages are read while the agent has it open', async () => {
    const data = join(folder, 'car');
    mkdirSync(data);
    const store = await openStore(join(data, 'outbox'), { log: new MemoryLog(), keptBytes: 1 << 20 });
    writeFileSync(join(data, 'boot.json'), JSON.stringify({ boot: 1, vin: ONE }));
    for (let seq = 0; seq < 50; seq++) {
      const payload = telemetry([{ slot: SPEED, value: seq, at: NOON + seq * 1_000 }], seq);
      store.outbox.append({ class: 5, seq, kind: 'telemetry', at: NOON, retain: false, payload });
      await store.outbox.commit();
    }
    for (let seq = 0; seq < 30; seq++) store.outbox.acknowledge(5, seq);
    await store.outbox.commit();
    const output = join(folder, 'car.csv');
    const ended = await vigie('export', ONE, '--data', data, '-o', output);
    await store.close();
    expect(ended.status, ended.stderr).toBe(0);
    const rows = csvRows(readFileSync(output, 'utf8'));
    expect(rows.map((row) => row['kinetic.speed [km/h]'])).toEqual(Array.from({ length: 50 }, (_, i) => String(i)));
    const other = await vigie('export', OTHER, '--data', data, '-o', output);
    expect(other.status).toBe(2);
    expect(other.stderr).toContain(`these are the records of ${ONE}`);
  });
});

test('wrong input is refused with what to do', async () => {
  const file = join(folder, 'not-cbor');
  writeFileSync(file, Buffer.from([0x5f, 0xff, 0xff]));
  const wrong = await vigie('export', ONE, '--input', file, '-o', join(folder, 'x.csv'));
  expect(wrong.status).toBe(2);
  expect(wrong.stderr).toContain('has no message at byte 0');
  const none = await vigie('export', ONE, '-o', join(folder, 'x.csv'));
  expect(none.stderr).toContain('--hub, --data or --input');
  const empty = await vigie('export', ONE, '--data', folder, '-o', join(folder, 'x.csv'));
  expect(empty.stderr).toContain('is not a folder of records');
  const reversed = await vigie('export', ONE, '--input', file, '--from', '2026-02-01', '--to', '2026-01-01');
  expect(reversed.stderr).toContain('--from must be before --to');
});
