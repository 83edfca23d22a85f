/** `vigie hub` on PostgreSQL with a real car: messages survive the failure of each part. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DrivingCar } from '../hub/driving-car.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { describePeer } from '../rig/peers.ts';
import { PostgresRig } from '../rig/postgres.ts';
import { Relay } from '../rig/relay.ts';

describePeer('initdb', 'a hub on PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-postgres-'));
  const server = new PostgresRig();
  const begun: VigieProcess[] = [];
  beforeAll(async () => {
    await server.start();
  });
  afterAll(async () => {
    for (const hub of begun) await hub.end('SIGKILL');
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startHub(data: string, database: string) {
    const hub = new VigieProcess(['hub', '--data', data, '--database', database, '--port', '0', '--http', '0']);
    begun.push(hub);
    await hub.says('Ctrl-C ends');
    const port = Number(/mqtt:\/\/127\.0\.0\.1:(\d+)/.exec(hub.output)?.[1]);
    return { process: hub, port, url: /http:\/\/127\.0\.0\.1:\d+/.exec(hub.output)?.[0] ?? '' };
  }

  // biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
  async function get(url: string): Promise<any> {
    return (await fetch(url)).json();
  }

  test('a database restart and a killed hub lose no acknowledged message of a driving car and duplicate none', async () => {
    const database = await server.create();
    const vin = 'VF3VGEHVBP0000001';
    const data = join(folder, 'one');
    const first = await startHub(data, database);
    const relay = await Relay.open(first.port);
    const car = await new DrivingCar({ vin, url: relay.url }).start();
    try {
      // In the middle of a trip: its start is acknowledged, its end is not.
      await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'trip'));
      await car.during(server.kill());
      // The hub has received a message, could not store it, and therefore did not acknowledge it.
      await car.during(first.process.says('hub.store.failed'));
      await car.during(server.start());
      const before = car.acknowledged.length;
      await car.until(() => car.acknowledged.length > before + 3);
      await car.during(first.process.end('SIGKILL'));
      const second = await car.during(startHub(data, database));
      relay.brokerPort = second.port;
      await car.untilTrip();
      // A link that comes up sends the newest Status first, so a lower number may arrive after it. Finally none is
      // missing.
      const numbers = `${second.url}/vigie/v1/vehicles/${vin}/numbers`;
      const lacks = (answer: { classes: { missing: unknown[] }[] }): boolean =>
        answer.classes.some(({ missing }) => missing.length > 0);
      while (lacks(await car.during(get(numbers))));
      await car.stop();
      expect((await get(numbers)).classes.flatMap(({ givenUp }: { givenUp: unknown[] }) => givenUp)).toEqual([]);
      const ended = car.acknowledged.flatMap(({ message }) =>
        message.kind === 'trip' && message.body.done === true ? [message.body] : [],
      );
      const [vehicle] = (await get(`${second.url}/fleets/local/vehicles`))._embedded.vehicles;
      const trips = (await get(vehicle._links.trips.href))._embedded.trips;
      expect(trips.filter(({ done }: { done?: boolean }) => done === true)).toMatchObject(
        ended.map(({ id, distance }) => ({ id, distance })),
      );
      expect(await second.process.end('SIGTERM')).toBe(0);
      const kept = await server.execute(database, 'SELECT class, seq, boot, payload FROM messages');
      const payloads = kept.map((row) => (row['payload'] as Buffer).toString('hex'));
      const acknowledged = new Set(car.acknowledged.map(({ payload }) => Buffer.from(payload).toString('hex')));
      expect([...acknowledged].filter((payload) => !payloads.includes(payload))).toEqual([]);
      expect(new Set(kept.map((row) => `${row['class']}/${row['seq']}/${row['boot']}`)).size).toBe(kept.length);
      expect(new Set(payloads).size).toBe(payloads.length);
    } finally {
      await car.remove();
      await relay.close();
    }
  });

  test('a hub without its database prints a one-line error without the password', async () => {
    const words = ['hub', '--data', join(folder, 'none'), '--port', '0', '--http', '0'];
    const { status, stdout, stderr } = await vigie(...words, '--database', 'postgres://u:secret@127.0.0.1:1/hub');
    expect([status, stdout]).toEqual([expect.any(Number), '']);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(
      /^vigie: postgres:\/\/127\.0\.0\.1:1\/hub: cannot be opened as the database of the hub: .*\n$/,
    );
    expect(stderr).not.toContain('secret');
  });
});
