/** `vigie hub` as people start it, with a real car on it, killed in the middle. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { SqliteDatabase } from '../../adapters/database/index.ts';
import { DrivingCar } from '../hub/driving-car.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { Relay } from '../rig/relay.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-process-'));
const begun: VigieProcess[] = [];
afterEach(async () => {
  for (const hub of begun.splice(0)) await hub.end('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface RunningHub {
  readonly process: VigieProcess;
  readonly port: number;
  readonly url: string;
}

async function startHub(data: string): Promise<RunningHub> {
  const hub = new VigieProcess(['hub', '--data', data, '--port', '0', '--http', '0']);
  begun.push(hub);
  await hub.says('Ctrl-C ends');
  const port = Number(/mqtt:\/\/127\.0\.0\.1:(\d+)/.exec(hub.output)?.[1]);
  return { process: hub, port, url: /http:\/\/127\.0\.0\.1:\d+/.exec(hub.output)?.[0] ?? '' };
}

// biome-ignore lint/suspicious/noExplicitAny: what comes out of JSON, for the expectations to look at.
async function get(url: string): Promise<any> {
  return (await fetch(url)).json();
}

test('a hub that is killed while a car drives loses nothing it acknowledged, and has nothing twice', async () => {
  const data = join(folder, 'killed');
  const vin = 'VF3VGEHVBK0000001';
  const first = await startHub(data);
  const relay = await Relay.open(first.port);
  const car = await new DrivingCar({ vin, url: relay.url }).start();
  try {
    // In the middle of a trip: its beginning is acknowledged, its end is not.
    await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'trip'));
    await car.during(first.process.end('SIGKILL'));
    const before = car.acknowledged.length;
    const second = await car.during(startHub(data));
    relay.brokerPort = second.port;
    await car.untilTrip();
    await car.stop();
    expect(before).toBeGreaterThan(3);
    expect(car.acknowledged.length).toBeGreaterThan(before);

    const ended = car.acknowledged.flatMap(({ message }) =>
      message.kind === 'trip' && message.body.done === true ? [message.body] : [],
    );
    const [vehicle] = (await get(`${second.url}/fleets/local/vehicles`))._embedded.vehicles;
    expect(vehicle.vin).toBe(vin);
    const trips = (await get(vehicle._links.trips.href))._embedded.trips;
    expect(trips.filter(({ done }: { done?: boolean }) => done === true)).toMatchObject(
      ended.map(({ id, distance }) => ({ id, distance })),
    );
    for (const { missing, givenUp } of (await get(`${second.url}/vigie/v1/vehicles/${vin}/numbers`)).classes) {
      expect({ missing, givenUp }).toEqual({ missing: [], givenUp: [] });
    }
    expect(await second.process.end('SIGTERM')).toBe(0);

    const database = await SqliteDatabase.open(join(data, 'hub.sqlite'));
    const kept = database.all('SELECT class, seq, boot, payload FROM messages');
    database.close();
    const payloads = kept.map(({ payload }) => Buffer.from(payload as Uint8Array).toString('hex'));
    const acknowledged = new Set(car.acknowledged.map(({ payload }) => Buffer.from(payload).toString('hex')));
    expect([...acknowledged].filter((payload) => !payloads.includes(payload))).toEqual([]);
    expect(new Set(kept.map((row) => `${row['class']}/${row['seq']}/${row['boot']}`)).size).toBe(kept.length);
    expect(new Set(payloads).size).toBe(payloads.length);
  } finally {
    await car.remove();
    await relay.close();
  }
});

test('a second hub in the same directory is refused by one line', async () => {
  const data = join(folder, 'taken');
  await startHub(data);
  const second = await vigie('hub', '--data', data, '--port', '0', '--http', '0');
  expect(second).toMatchObject({ status: 2, stdout: '' });
  expect(second.stderr).toMatch(/^vigie: .*taken: process \d+ uses it; end that one or choose another directory\n$/);
});
