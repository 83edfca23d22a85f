/** Clears the retained messages of forgotten cars from brokers, with a registry in a real file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { idOf } from '../../../assembly/view.ts';
import { Erasures } from '../../../hub/core/erasures.ts';
import { SqliteDatabase, SqliteMessageStore, SqlRegistry } from '../../../hub/database/index.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';
import { NOON, ONE, OTHER, received, trip } from '../messages.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-erasures-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

async function begin(file = join(folder, `${++made}.sqlite`)) {
  const database = await SqliteDatabase.open(file);
  onTestFinished(() => database.close());
  const registry = new SqlRegistry(database);
  const store = new SqliteMessageStore(database, idOf);
  const clock = new VirtualClock();
  const log = new MemoryLog();
  const broker = { isAway: false, cleared: [] as string[] };
  const erasures = new Erasures({
    registry,
    log,
    after: (delay, due) => clock.after(delay, due),
    clear: async (vin) => {
      if (broker.isAway) throw new VigieError('link.lost', 'the hub is not connected');
      broker.cleared.push(vin);
    },
  });
  onTestFinished(() => erasures.stop());
  /** Waits for the poll in progress, then advances time past the next one. */
  const look = async (): Promise<void> => {
    await new Promise(setImmediate);
    clock.advance(5_000);
    await new Promise(setImmediate);
  };
  const forget = async (vin: string): Promise<void> => {
    await store.save([received('trip', trip('a'), { vin })], []);
    await registry.forget(vin, NOON);
  };
  return { file, registry, log, broker, erasures, look, forget };
}

test('retained messages of a forgotten car are cleared once, with retries while the broker is away', async () => {
  const { registry, log, broker, erasures, look, forget } = await begin();
  broker.isAway = true;
  erasures.begin();
  await forget(ONE);
  for (let looks = 0; looks < 3; looks++) await look();
  expect(log.lines.filter(({ event }) => event === 'hub.erasure.failed').length).toBeGreaterThanOrEqual(3);
  expect(await registry.erasures()).toMatchObject([{ vin: ONE }]);
  broker.isAway = false;
  for (let looks = 0; looks < 3; looks++) await look();
  expect(broker.cleared).toEqual([ONE]);
  expect(await registry.erasures()).toEqual([]);
});

test('a hub that starts later finishes the erasures that another hub left', async () => {
  const first = await begin();
  first.broker.isAway = true;
  await first.forget(ONE);
  first.erasures.begin();
  await first.look();
  await first.erasures.stop();
  const second = await begin(first.file);
  second.erasures.begin();
  await second.look();
  expect(second.broker.cleared).toEqual([ONE]);
  expect(await second.registry.erasures()).toEqual([]);
});

test('messages that a forgotten car sent while the store failed are cleared when the store works again', async () => {
  const { registry, broker, erasures, look, forget } = await begin();
  await forget(ONE);
  erasures.begin();
  await look();
  const failing = async (): Promise<never> => {
    throw new VigieError('store.failed', 'the disk is full');
  };
  for (const method of ['isForgotten', 'clearAgain'] as const) {
    broker.cleared.length = 0;
    Object.assign(registry, { [method]: failing });
    await erasures.sent(ONE);
    await look();
    Reflect.deleteProperty(registry, method);
    for (let looks = 0; looks < 2; looks++) await look();
    expect(broker.cleared, method).toEqual([ONE]);
    expect(await registry.erasures()).toEqual([]);
  }
});

test('the next poll clears what a forgotten car sent meanwhile, however much it sent', async () => {
  const { registry, broker, erasures, look, forget } = await begin();
  await forget(ONE);
  erasures.begin();
  await look();
  for (let message = 0; message < 100; message++) {
    erasures.forgottenSent([ONE]);
    await erasures.sent(ONE);
    await erasures.sent(OTHER);
  }
  expect(broker.cleared).toEqual([ONE]);
  expect(await registry.erasures()).toMatchObject([{ vin: ONE }]);
  await look();
  await look();
  expect(broker.cleared).toEqual([ONE, ONE]);
  expect(await registry.erasures()).toEqual([]);
});
