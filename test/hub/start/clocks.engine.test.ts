import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { hubClock, onPostgres } from '../../../hub/start/database.ts';
import { type Hub, startHub } from '../../../hub/start/hub.ts';
import { DAY } from '../../../protocol/calendar.ts';
import { hubClocksContract } from '../../contracts/hub-clocks.ts';
import { MemoryLog } from '../../rig/log.ts';
import { describePeer } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { DrivingCar } from '../driving-car.ts';
import { groupSecretIn } from '../hub-tokens.ts';
import { received, trip } from '../messages.ts';

const HOUR = 3_600_000;

/** A wall clock with an offset of `by` ms that changes once. Its monotonic time is right. */
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

describePeer('initdb', 'PostgreSQL with wrong clocks', () => {
  const server = new PostgresRig();
  const data = mkdtempSync(join(tmpdir(), 'vigie-hub-clocks-'));
  const secretFile = groupSecretIn(data);
  beforeAll(() => server.start());
  afterAll(async () => {
    await server.remove();
    rmSync(data, { recursive: true, force: true });
  });
  hubClocksContract('PostgreSQL', async () => {
    const database = await server.create();
    const open = () => onPostgres(database, { limit: 100, clock: new SystemClock(), log: new MemoryLog() });
    return { options: { data, database }, open };
  });

  test.each([
    ['an hour slow', -HOUR],
    ['a day fast', DAY],
  ])('hubs on one database agree on the time although one clock is %s', async (name, by) => {
    const database = await server.create();
    const begin = async (own: SystemClock): Promise<Hub> => {
      const clock = await hubClock(database, own);
      const folder = mkdtempSync(join(data, `${name.replaceAll(' ', '-')}-`));
      const hub = await startHub({ data: folder, database, secretFile, port: 0, http: 0, clock, log: new MemoryLog() });
      onTestFinished(() => hub.stop());
      return hub;
    };
    const machine = new WrongClock(by);
    const wrong = await begin(machine);
    const right = await begin(new SystemClock());
    const vin = 'VF3VGEHVBW0000001';
    const car = new DrivingCar({ vin, url: wrong.broker, scenario: 'parked', trust: wrong.trust, machineTime: true });
    onTestFinished(() => car.remove());
    await car.start();
    await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'status'));
    const of = (hub: Hub, path: string): string => `${hub.interface.url}/vigie/v1/vehicles/${vin}/${path}`;
    const get = async <T>(url: string): Promise<T> => (await (await fetch(url)).json()) as T;
    const isNow = (time: number): void => expect(Math.abs(time - Date.now())).toBeLessThan(HOUR / 2);

    // Messages that the hub with the wrong clock received are new to the other hub.
    isNow((await get<{ heard: number }>(of(right, 'values'))).heard);

    // The car obeys this hub, even after the clock was set.
    for (const state of ['Locked', 'Unlocked']) {
      const given = await fetch(of(wrong, 'remotes'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ door: { state } }),
      });
      const { remoteActionId } = (await given.json()) as { remoteActionId: string };
      const follow = () => get<{ status: string }>(of(wrong, `remotes/${remoteActionId}`));
      await expect.poll(async () => (await follow()).status, { timeout: 30_000 }).toMatch(/^(Success|AlreadyDone)$/);
      machine.by += HOUR;
    }

    // Both hubs have the next resend request equally far in the future.
    await right.stop();
    const { store, close } = await onPostgres(database, { limit: 9, clock: new SystemClock(), log: new MemoryLog() });
    onTestFinished(close);
    await store.save([received('trip', trip('a'), { vin, seq: 9_000, received: 0 })], []);
    const due = () => server.execute(database, 'SELECT due FROM numbers WHERE attempts > 0 AND missing > 0');
    await expect.poll(due, { timeout: 30_000 }).toHaveLength(1);
    isNow(Number((await due())[0]?.['due']));
  });
});
