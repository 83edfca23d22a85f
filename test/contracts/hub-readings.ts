/** Rows of readings and views for people who use SQL, on any database. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import type { HubDatabase } from '../../hub/start/database.ts';
import { type HubOptions, startHub } from '../../hub/start/hub.ts';
import { DAY } from '../../protocol/calendar.ts';
import { type Reading, telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { type SlotValue, slotAt } from '../../protocol/slots.ts';
import { type MessageOptions, NOON, ONE, OTHER, received, trip } from '../hub/messages.ts';
import { vigie } from '../rig/bench.ts';
import { MemoryLog } from '../rig/log.ts';

type Row = Readonly<Record<string, unknown>>;

export interface ReadingsUnderTest {
  /** Options of a hub on this database. */
  readonly options: Pick<HubOptions, 'data' | 'database'>;
  /** Opens the database as one more hub does, or as the only one on SQLite. `readings`: days to keep rows of readings. */
  open(readings?: number): Promise<HubDatabase>;
  /** Executes a query of a person. */
  sql(query: string): Promise<readonly Row[]>;
  remove(): Promise<void>;
}

const reading = (path: string, value: SlotValue, at: number): Reading => ({ slot: slotAt(path), value, at });
const drive = (readings: readonly Reading[], options: MessageOptions) =>
  received('telemetry', telemetryFromReadings(readings), { boot: 1, ...options });
const speeds = (from: number, ...values: number[]) =>
  values.map((value, second) => reading('kinetic.speed', value, from + second * 1_000));

/** Readings of every kind of value. */
const mixed = [
  ...speeds(NOON, 12.5, 13, 13.5),
  reading('kinetic.moving', true, NOON),
  reading('kinetic.moving', false, NOON + 1_500),
  reading('lastPosition.fixStatus', '3D', NOON + 20),
  reading('doorsState.lockedStates', ['Locked', 'TrunkLocked'] as never, NOON + 30),
  reading('energies.Electric.level', 80, NOON + 40),
];

export function hubReadingsContract(name: string, create: () => Promise<ReadingsUnderTest>): void {
  describe(`the readings of a hub on ${name} as rows`, () => {
    let made: ReadingsUnderTest;
    const open: HubDatabase[] = [];
    beforeEach(async () => {
      made = await create();
    });
    afterEach(async () => {
      await close();
      await made.remove();
    });
    const hub = async (readings?: number): Promise<HubDatabase> => {
      const database = await made.open(readings);
      open.push(database);
      return database;
    };
    const close = async (): Promise<void> => {
      for (const one of open.splice(0)) await one.close();
    };
    /** Times in the form of both databases. */
    const timeOf = (at: unknown): number => (at instanceof Date ? at.getTime() : Number(at));
    const plain = (row: Row): string => {
      const flag = row['flag'] === null ? null : Boolean(row['flag']);
      return JSON.stringify([row['vin'], row['path'], timeOf(row['at']), row['number'] ?? flag ?? row['text']]);
    };
    const rows = async (more = ''): Promise<readonly string[]> =>
      (await made.sql(`SELECT * FROM reading ${more}`)).map(plain).sort();
    const expected = (readings: readonly Reading[], vin = ONE, late = 0) =>
      readings
        .map(({ slot, value, at }) =>
          JSON.stringify([vin, slot.path, at + late, Array.isArray(value) ? value.join(',') : value]),
        )
        .sort();
    /** Removes what is older, as a running hub does. */
    const removeBefore = async (database: HubDatabase, before: number): Promise<void> => {
      while ((await database.retention.removeBefore('reading', before)).next !== undefined);
    };

    test('without the setting there are none', async () => {
      const database = await hub();
      await database.store.save([drive(mixed, { seq: 0 })], []);
      expect(await rows()).toEqual([]);
      expect(database.readingDays).toBeUndefined();
    });

    test('each reading is one row, whatever arrives again, and whoever receives it', async () => {
      const hubs = [await hub(30), ...(made.options.database === undefined ? [] : [await hub(30)])];
      const others = speeds(NOON, 1, 2);
      const all = [
        drive(mixed, { seq: 0 }),
        drive(speeds(NOON + 60_000, 20, 20, 21), { seq: 1 }),
        drive(others, { seq: 0, vin: OTHER }),
      ];
      await Promise.all(hubs.map(({ store }) => store.save([...all, ...all], [])));
      for (const { store } of hubs) await store.save(all, []);
      // Late, after those that were made later.
      await hubs[0]?.store.save([drive(speeds(NOON - 5 * DAY, 7), { seq: 9, received: NOON })], []);
      const own = [...mixed, ...speeds(NOON + 60_000, 20, 20, 21), ...speeds(NOON - 5 * DAY, 7)];
      expect(await rows()).toEqual([...expected(own), ...expected(others, OTHER)].sort());
      expect(await made.sql("SELECT DISTINCT path, unit FROM reading WHERE vin LIKE '%1' ORDER BY path")).toEqual([
        { path: 'doorsState.lockedStates', unit: null },
        { path: 'energies.Electric.level', unit: '%' },
        { path: 'kinetic.moving', unit: null },
        { path: 'kinetic.speed', unit: 'km/h' },
        { path: 'lastPosition.fixStatus', unit: null },
      ]);
    });

    test('two values of one path at one time are two rows', async () => {
      const { store } = await hub(30);
      const twice = [...speeds(NOON, 5), ...speeds(NOON, 6)];
      await store.save([drive(twice, { seq: 0 })], []);
      expect(await rows()).toEqual(expected(twice));
    });

    test('the rows are the readings that the interface returns, also those of a start that learnt the time later', async () => {
      const { store } = await hub(30);
      const untimed = speeds(86_400_000, 3, 4);
      const later = speeds(86_460_000, 5);
      const late = NOON - 86_400_000 - DAY;
      const hello = { version: '1', protocol: 1, boot: 2, profile: 'bench', startedAt: NOON, behind: late };
      await store.save([drive(mixed, { seq: 0 }), drive(untimed, { seq: 1, boot: 2, clock: 'none' })], []);
      expect(await rows()).toEqual([...expected(mixed), ...expected(untimed)].sort());
      await store.save([received('hello', hello, { seq: 0, boot: 2 })], []);
      await store.save([drive(later, { seq: 2, boot: 2, clock: 'none' })], []);
      const all = [...expected(mixed), ...expected([...untimed, ...later], ONE, late)].sort();
      expect(await rows()).toEqual(all);
      await close();

      const folder = mkdtempSync(join(tmpdir(), 'vigie-readings-'));
      const running = await startHub({
        ...made.options,
        readings: 30,
        port: 0,
        http: 0,
        clock: new SystemClock(),
        log: new MemoryLog(),
      });
      try {
        const file = join(folder, 'out');
        const { url } = running.interface;
        const ended = await vigie('export', ONE, '--hub', url, '--format', 'ndjson', '-o', file);
        expect(ended.stderr).not.toContain('error');
        const lines = readFileSync(file, 'utf8').trim().split('\n');
        const returned = lines.flatMap((line) => {
          const { time: _, 'time [ms]': at, ...values } = JSON.parse(line);
          return Object.entries(values).map(([header, value]) =>
            JSON.stringify([ONE, header.replace(/ \[.*/, ''), at, value]),
          );
        });
        expect(returned.sort()).toEqual(all);
      } finally {
        await running.stop();
        rmSync(folder, { recursive: true });
      }
    });

    test('readings of days that are over are removed, however late they arrived, and the messages stay', async () => {
      const database = await hub(2);
      const midnight = NOON - DAY / 2;
      const save = (seq: number, at: number, readings: readonly Reading[]) =>
        database.store.save([drive(readings, { seq, received: at })], []);
      await save(0, midnight - DAY - 1, speeds(NOON - 2 * DAY, 1));
      await save(1, midnight - 1, speeds(NOON - 9 * DAY, 2));
      await save(2, midnight, speeds(NOON, 3));
      await removeBefore(database, midnight - DAY);
      expect(await rows()).toEqual([...expected(speeds(NOON - 9 * DAY, 2)), ...expected(speeds(NOON, 3))].sort());
      await removeBefore(database, midnight);
      expect(await rows()).toEqual(expected(speeds(NOON, 3)));
      expect(await database.reader.numbers(ONE)).toMatchObject([{ arrived: [[0, 2]], missing: [] }]);
      expect(await made.sql('SELECT count(*) AS n FROM messages')).toEqual([{ n: expect.anything() }]);
    });

    test('a hub that no longer has the setting removes the rows', async () => {
      await (await hub(30)).store.save([drive(mixed, { seq: 0 })], []);
      await close();
      const database = await hub();
      expect(database.readingDays).toBe(0);
      await removeBefore(database, NOON + 4 * DAY);
      expect(await rows()).toEqual([]);
      await close();
      expect((await hub()).readingDays).toBeUndefined();
    });

    test('a forgotten car leaves no row, and others keep theirs', async () => {
      const { store, registry } = await hub(30);
      await store.save([drive(mixed, { seq: 0 }), drive(mixed, { seq: 0, vin: OTHER })], []);
      await registry.forget(ONE, NOON);
      expect(await rows()).toEqual(expected(mixed, OTHER));
      expect(await made.sql('SELECT vin FROM vehicle')).toEqual([{ vin: OTHER }]);
    });

    test('a message with columns that cannot be read is stored and reported, with no row, and so are the others', async () => {
      const { store } = await hub(30);
      const { message } = drive(speeds(NOON, 1), { seq: 0 });
      const broken = { ...message.body, columns: Uint8Array.of(1, 2, 3) } as never;
      const saved = await store.save([received('telemetry', broken, { seq: 0 }), drive(mixed, { seq: 1 })], []);
      expect([saved.fresh.length, saved.unreadable?.map((one) => one.message.seq)]).toEqual([2, [0]]);
      expect(await rows()).toEqual(expected(mixed));
    });

    test('the newest values of each car, its trips and its last message are views too', async () => {
      const { store } = await hub();
      const kinetic = { createdAt: NOON - 7, speed: 51.5, moving: true };
      const lastPosition = {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [2.5, 48.5] },
        properties: { createdAt: NOON - 9, fixStatus: '3D' },
      };
      const doorsState = { createdAt: NOON, lockedStates: ['Locked', 'TrunkLocked'] };
      const status = {
        kinetic,
        lastPosition,
        doorsState,
        stolen: { createdAt: NOON, startedAt: NOON, state: true, id: 'a\0b' },
      };
      await store.save(
        [
          received('status', { full: true, status } as never, { seq: 0 }),
          received('status', { full: true, status: { kinetic } } as never, { vin: OTHER, received: NOON + 5 }),
          received('trip', trip('a', { startedAt: NOON, distance: 12.5, duration: 600, done: true }), { seq: 0 }),
        ],
        [],
      );
      const latest = (await made.sql(`SELECT * FROM latest WHERE vin = '${ONE}'`)).map(plain).sort();
      expect(latest).toEqual(
        expect.arrayContaining(
          [
            ['doorsState.lockedStates', NOON, 'Locked,TrunkLocked'],
            ['kinetic.moving', NOON - 7, true],
            ['kinetic.speed', NOON - 7, 51.5],
            ['lastPosition.fixStatus', NOON - 9, '3D'],
            ['lastPosition.latitude', NOON - 9, 48.5],
            ['stolen.startedAt', NOON, '2026-11-10T12:00:00.000Z'],
          ].map((one) => JSON.stringify([ONE, ...one])),
        ),
      );
      expect((await made.sql("SELECT * FROM latest WHERE path = 'kinetic.speed' ORDER BY vin")).map(plain)).toEqual(
        [ONE, OTHER].map((vin) => JSON.stringify([vin, 'kinetic.speed', NOON - 7, 51.5])),
      );
      const [{ started, ...one } = {}] = await made.sql('SELECT * FROM trip');
      expect([timeOf(started), one]).toEqual([
        NOON,
        { vin: ONE, id: 'a', distance: 12.5, duration: 600, state: 'Nominal', class: null },
      ]);
      const seen = await made.sql('SELECT vin, last_seen FROM vehicle ORDER BY vin');
      expect(seen.map(({ vin, last_seen: last }) => [vin, timeOf(last)])).toEqual([
        [ONE, NOON],
        [OTHER, NOON + 5],
      ]);
    });
  });
}
