/** A car that cannot be started leaves nothing behind. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { callbackChannels } from '../../adapters/callbacks/index.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { openStore } from '../../adapters/store/index.ts';
import { startCar } from '../../assembly/car.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import { VigieError } from '../../protocol/errors.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { MemoryLog } from '../rig/log.ts';

/** Tracks pending timers. */
class WatchedClock extends SystemClock {
  readonly waiting = new Set<() => void>();

  override after(delay: number, due: () => void): () => void {
    const done = (): void => {
      this.waiting.delete(done);
      due();
    };
    this.waiting.add(done);
    const cancel = super.after(delay, done);
    return () => {
      this.waiting.delete(done);
      cancel();
    };
  }
}

let data: string;
let taken: Server;
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'vigie-car-'));
  taken = createServer();
  await new Promise<void>((resolve) => {
    taken.listen(0, '127.0.0.1', resolve);
  });
});
afterEach(async () => {
  await new Promise((resolve) => {
    taken.close(resolve);
  });
  rmSync(data, { recursive: true, force: true });
});

test('a car whose interface port is taken leaves no agent, lock or timer behind, and can be started later', async () => {
  const { port } = taken.address() as { port: number };
  const clock = new WatchedClock();
  const log = new MemoryLog();
  const options = (free: boolean) => ({
    vin: 'VF3VGEBENCH000001',
    vehicle: loadVehicle('bench'),
    data,
    sources: [],
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    notificationChannels: callbackChannels({ networks: ['127.0.0.0/8'], allowHttp: true, now: () => clock.now() }),
    settings: agentSettings({ outbox: { limit: 2 ** 20 } }),
    http: { local: true, port: free ? 0 : port } as const,
    log,
    clock,
  });
  await expect(startCar(options(false))).rejects.toBeInstanceOf(VigieError);
  expect(clock.waiting.size).toBe(0);
  expect(existsSync(join(data, 'lock'))).toBe(false);
  const car = await startCar(options(true));
  expect(existsSync(join(data, 'lock'))).toBe(true);
  await car.stop();
  expect(clock.waiting.size).toBe(0);
  expect(existsSync(join(data, 'lock'))).toBe(false);
  expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a car whose clock is 400 days ahead for one start keeps its records', async () => {
  const now = Date.now();
  const day = 86_400_000;
  const records = await openStore(join(data, 'outbox'), { now: () => now });
  for (const age of [0, 1, 30, 59]) records.records.put('trips', { id: `${age}`, at: now - age * day, record: age });
  await records.close();
  const ahead = vi.spyOn(Date, 'now').mockImplementation(() => now + 400 * day);
  try {
    const car = await startCar({
      vin: 'VF3VGEBENCH000001',
      vehicle: loadVehicle('bench'),
      data,
      sources: [],
      mqtt: { url: 'mqtt://127.0.0.1:1' },
      settings: agentSettings({ outbox: { limit: 2 ** 20 } }),
      log: new MemoryLog(),
      clock: new SystemClock(),
    });
    await car.stop();
  } finally {
    ahead.mockRestore();
  }
  const after = await openStore(join(data, 'outbox'), { now: () => now });
  expect([...after.records.list('trips')].map(({ record }) => record)).toEqual([59, 30, 1, 0]);
  await after.close();
});
