/** `vigie hub` as a process with a real car, killed in the middle. */
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { SqliteDatabase } from '../../hub/database/index.ts';
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

interface Numbers {
  readonly classes: readonly { readonly missing: readonly unknown[]; readonly givenUp: readonly unknown[] }[];
}

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
async function get(url: string): Promise<any> {
  return (await fetch(url)).json();
}

test('a hub killed while a car drives loses no acknowledged message and stores none twice', async () => {
  const data = join(folder, 'killed');
  const vin = 'VF3VGEHVBK0000001';
  const first = await startHub(data);
  const relay = await Relay.open(first.port);
  const car = await new DrivingCar({ vin, url: relay.url }).start();
  try {
    // In the middle of a trip: its start is acknowledged, its end is not.
    await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'trip'));
    await car.during(first.process.end('SIGKILL'));
    const before = car.acknowledged.length;
    const second = await car.during(startHub(data));
    relay.brokerPort = second.port;
    await car.untilTrip();
    // A link that comes up sends the newest Status first, so a lower number may arrive after it. Finally none is
    // missing.
    const numbers = `${second.url}/vigie/v1/vehicles/${vin}/numbers`;
    const someMissing = ({ classes }: Numbers): boolean => classes.some(({ missing }) => missing.length > 0);
    while (someMissing(await car.during(get(numbers))));
    expect((await get(numbers)).classes.flatMap(({ givenUp }: Numbers['classes'][number]) => givenUp)).toEqual([]);
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

test('a second hub in the same directory is refused in one line', async () => {
  const data = join(folder, 'taken');
  await startHub(data);
  const second = await vigie('hub', '--data', data, '--port', '0', '--http', '0');
  expect(second).toMatchObject({ status: 2, stdout: '' });
  expect(second.stderr).toMatch(/^vigie: .*taken: process \d+ uses it; end that one or choose another directory\n$/);
});

test('an invalid configuration is refused with line and fix, and nothing starts', async () => {
  const file = join(folder, 'hub.yaml');
  writeFileSync(file, 'hub: 1\nbroker:\n  urll: mqtt://127.0.0.1:1\n');
  const { status, stdout, stderr } = await vigie('hub', '-c', file);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/hub\.yaml:3: error: unknown member "urll" .*url/);
});

test('a configuration sets directory and ports, and options take precedence', async () => {
  const file = join(folder, 'chosen.yaml');
  const text = "hub: 1\ndata: chosen\nbroker: { listen: '127.0.0.1:0' }\nhttp: { listen: '127.0.0.1:0' }\n";
  writeFileSync(file, text);
  const hub = new VigieProcess(['hub', '-c', file, '--data', join(folder, 'given')]);
  begun.push(hub);
  await hub.says('Ctrl-C ends');
  expect(hub.output).toContain(`Everything is in ${join(folder, 'given')}`);
  expect(existsSync(join(folder, 'chosen'))).toBe(false);
});

test('a command stored but not delivered by a killed hub reaches the car through the next hub, once', async () => {
  const data = join(folder, 'pending');
  const vin = 'VF3VGEHVBK0000002';
  const first = await startHub(data);
  const relay = await Relay.open(first.port);
  const trust = join(data, 'keys', 'trust.json');
  const car = new DrivingCar({ vin, url: relay.url, scenario: 'parked', trust, machineTime: true });
  try {
    await car.start();
    await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'status'));
    await car.stop();
    const remotes = `/vigie/v1/vehicles/${vin}/remotes`;
    const given = await fetch(`${first.url}${remotes}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ door: { state: 'Locked' } }),
    });
    const { remoteActionId } = (await given.json()) as { remoteActionId: string };
    // The killed hub's broker had it queued in memory only, and that is lost.
    await first.process.end('SIGKILL');
    const second = await startHub(data);
    relay.brokerPort = second.port;
    expect(await get(`${second.url}${remotes}/${remoteActionId}`)).toMatchObject({ status: 'Requested', states: [] });
    await car.start();
    const reports = (): string[] =>
      car.acknowledged.flatMap(({ message }) => (message.kind === 'remote' ? [message.body.status] : []));
    await car.until(() => reports().includes('Success'));
    expect(await get(`${second.url}${remotes}/${remoteActionId}`)).toMatchObject({
      status: 'Success',
      requestedBy: 'local',
    });
    expect(reports().filter((status) => status === 'SentToVehicle')).toHaveLength(1);
  } finally {
    await car.remove();
    await relay.close();
  }
});

test('a configuration sets TLS, its names, and the address of metrics', async () => {
  const data = join(folder, 'secure');
  const file = join(folder, 'secure.yaml');
  const listen =
    "broker: { listen: '127.0.0.1:0' }\nhttp: { listen: '127.0.0.1:0' }\nmetrics: { listen: '127.0.0.1:0' }\n";
  writeFileSync(file, `hub: 1\ndata: ${data}\n${listen}tls: { names: [hub.example, localhost], enrolment: 0 }\n`);
  const hub = new VigieProcess(['hub', '-c', file]);
  begun.push(hub);
  await hub.says('Ctrl-C ends the hub.');
  expect(hub.output).toMatch(/ready: hub on mqtts:\/\/127\.0\.0\.1:\d+\n/);
  expect(hub.output).toMatch(/certificates from https:\/\/hub\.example:\d+ /);
  expect(hub.output).toMatch(/The page: https:\/\/127\.0\.0\.1:\d+\//);
  expect(hub.output).toMatch(/Metrics: http:\/\/127\.0\.0\.1:\d+\/metrics/);
  const { subjectAltName } = new X509Certificate(readFileSync(join(data, 'hub.pem')));
  expect(subjectAltName).toBe('DNS:hub.example, DNS:localhost');
});
