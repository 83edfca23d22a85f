/** A hub with a full disk, and with a wrong clock. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { idOf } from '../../../assembly/view.ts';
import { Intake } from '../../../hub/core/intake.ts';
import { HubMeasures } from '../../../hub/core/measures.ts';
import { SqliteDatabase, SqliteMessageStore } from '../../../hub/database/index.ts';
import { startEmbedded } from '../../../hub/start/broker.ts';
import { startHub } from '../../../hub/start/hub.ts';
import { DAY } from '../../../protocol/calendar.ts';
import { TestClock } from '../../commands/remote-car.ts';
import { MemoryLog } from '../../rig/log.ts';
import { DrivingCar } from '../driving-car.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-failure-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hex = (payload: unknown): string => Buffer.from(payload as Uint8Array).toString('hex');

test('on a full disk nothing is acknowledged; with free space everything arrives once', async () => {
  const database = await SqliteDatabase.open(join(folder, 'full.sqlite'));
  const log = new MemoryLog();
  const clock = new SystemClock();
  const intake = new Intake({
    store: new SqliteMessageStore(database, idOf),
    clock,
    log,
    measures: new HubMeasures(clock),
    soon: (work) => setImmediate(work),
    after: (delay, due) => clock.after(delay, due),
  });
  const broker = await startEmbedded(
    { port: 0 },
    { accept: (topic, payload) => intake.accept(topic, payload), online: () => undefined, presence: () => undefined },
  );
  const car = await new DrivingCar({ vin: 'VF3VGEHVBV0000001', url: broker.url }).start();
  try {
    await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'trip'));
    // SQLite reports the same error as for a full disk (SQLITE_FULL).
    const pages = database.one('PRAGMA page_count')?.['page_count'] as number;
    database.all(`PRAGMA max_page_count = ${pages}`);
    const failed = (): number => log.lines.filter(({ event }) => event === 'hub.store.failed').length;
    await car.until(() => failed() > 1);
    const before = car.acknowledged.length;
    const already = failed();
    await car.until(() => failed() > already + 1);
    expect(car.acknowledged).toHaveLength(before);
    database.all('PRAGMA max_page_count = 1073741823');
    await car.until(() => car.acknowledged.length > before + 3);
    await car.stop();
    await intake.settled();
    const kept = database.all('SELECT class, seq, boot, payload FROM messages');
    const payloads = new Set(kept.map(({ payload }) => hex(payload)));
    expect(car.acknowledged.filter(({ payload }) => !payloads.has(hex(payload)))).toEqual([]);
    expect(new Set(kept.map((row) => `${row['class']}/${row['seq']}/${row['boot']}`)).size).toBe(kept.length);
    expect(log.lines.find(({ event }) => event === 'hub.store.failed')?.fields).toMatchObject({
      error: expect.stringMatching(/full\.sqlite: database or disk is full: make room on this disk/),
    });
  } finally {
    await car.remove();
    await broker.stop();
    database.close();
  }
});

/** A wall clock with an offset in ms. Its monotonic time is right. */
class WrongClock extends SystemClock {
  by: number;

  constructor(by: number) {
    super();
    this.by = by;
  }

  override now(): number {
    return super.now() + this.by;
  }
}

/** The car's wall clock, with an offset in ms. */
class WrongCarClock extends TestClock {
  by = 0;

  override now(): number {
    return super.now() + this.by;
  }
}

test.each([
  ['an hour slow', -3_600_000, /^it expired \d+ s ago$/],
  ['a day fast', 86_400_000, /^it was issued in the future: the clocks of sender and car disagree$/],
])(
  'a hub whose clock is %s stores the car’s times, explains failed commands, and can send commands once corrected',
  async (name, by, reason) => {
    const log = new MemoryLog();
    const data = join(folder, name.replaceAll(' ', '-'));
    const clock = new WrongClock(by);
    const hub = await startHub({ data, port: 0, http: 0, clock, log });
    const vin = 'VF3VGEHVBV0000002';
    const car = new DrivingCar({ vin, url: hub.broker, scenario: 'parked', trust: hub.trust, machineTime: true });
    try {
      await car.start();
      await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'status'));
      const remotes = `${hub.interface.url}/vigie/v1/vehicles/${vin}/remotes`;
      type Remote = { status: string; counter: number; states: { status: string; at: string; detail?: string }[] };
      const command = async (state: string): Promise<Remote> => {
        const given = await fetch(remotes, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ door: { state } }),
        });
        expect(given.status).toBe(202);
        const { remoteActionId } = (await given.json()) as { remoteActionId: string };
        for (;;) {
          const remote = (await (await fetch(`${remotes}/${remoteActionId}`)).json()) as Remote;
          if (['Failed', 'AlreadyDone', 'Success'].includes(remote.status)) return remote;
        }
      };
      const remote = await command('Locked');
      expect(remote).toMatchObject({ status: 'Failed', states: [{ detail: expect.stringMatching(reason) }] });
      // The car's clock is right.
      expect(Math.abs(Date.parse(remote.states[0]?.at ?? '') - Date.now())).toBeLessThan(Math.abs(by) / 2);
      clock.by = 0;
      const next = await command('Unlocked');
      expect(next.status).not.toBe('Failed');
      expect(next.counter).toBeGreaterThan(remote.counter);
    } finally {
      await car.remove();
      await hub.stop();
    }
  },
);

test('clock jumps of days in hub and car lose nothing acknowledged and duplicate nothing', async () => {
  const data = join(folder, 'steps');
  const clock = new WrongClock(0);
  const carClock = new WrongCarClock();
  const hub = await startHub({ data, port: 0, http: 0, clock, log: new MemoryLog() });
  const car = new DrivingCar({ vin: 'VF3VGEHVBV0000003', url: hub.broker, clock: carClock });
  const more = async (): Promise<void> => {
    const before = car.acknowledged.length;
    await car.until(() => car.acknowledged.length > before + 5);
  };
  try {
    await car.start();
    await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'trip'));
    for (const [hubBy, carBy] of [
      [DAY, 0],
      [-DAY, 0],
      [0, DAY],
      [0, -DAY],
      [0, 0],
    ] as const) {
      clock.by = hubBy;
      carClock.by = carBy;
      await more();
    }
    await car.stop();
    const numbers = await hub.store.numbers(car.vin);
    expect(numbers?.flatMap(({ missing, givenUp }) => [...missing, ...givenUp])).toEqual([]);
  } finally {
    await car.remove();
    await hub.stop();
  }
  const database = await SqliteDatabase.open(join(data, 'hub.sqlite'));
  const kept = database.all('SELECT class, seq, boot, payload FROM messages');
  database.close();
  const payloads = new Set(kept.map(({ payload }) => hex(payload)));
  expect(car.acknowledged.filter(({ payload }) => !payloads.has(hex(payload)))).toEqual([]);
  expect(new Set(kept.map((row) => `${row['class']}/${row['seq']}/${row['boot']}`)).size).toBe(kept.length);
});
