/** A hub on Mosquitto during faults: its name is taken, its database is away, clients send forbidden messages. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { type Hub, type HubOptions, startHub } from '../../../hub/start/hub.ts';
import { upTopic } from '../../../protocol/topics.ts';
import { Car, message, Observer } from '../../rig/car.ts';
import { Authority, type Certificate } from '../../rig/certificates.ts';
import { MemoryLog } from '../../rig/log.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { describePeers } from '../../rig/peers.ts';
import { PostgresRig } from '../../rig/postgres.ts';
import { shippedBounds } from '../../rig/shipped-brokers.ts';
import { DrivingCar } from '../driving-car.ts';
import { groupSecretIn } from '../hub-tokens.ts';
import { payloadOf, trip } from '../messages.ts';

const rules = fileURLToPath(new URL('../../../config/brokers/mosquitto.acl', import.meta.url));

/**
 * How long PostgreSQL is away while a car drives at many times real speed, ms. `TEST_AWAY=600 npm run test:hub --
 * failure` makes that ten minutes.
 */
const AWAY = Number(process.env['TEST_AWAY'] ?? 20) * 1000;

describePeers(['mosquitto', 'initdb'], 'a hub at Mosquitto', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-broker-'));
  const server = new PostgresRig();
  const broker = new MosquittoRig({ settings: shippedBounds('mosquitto.conf') });
  const hubs: Hub[] = [];

  beforeAll(async () => {
    await Promise.all([broker.start(), server.start()]);
  });

  afterEach(async () => {
    for (const hub of hubs.splice(0)) await hub.stop();
  });

  afterAll(async () => {
    await broker.remove();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const groupSecret = groupSecretIn(folder);

  async function start(data: string, group: string, more: Partial<HubOptions> = {}): Promise<Hub> {
    const hub = await startHub({
      data: join(folder, data),
      secretFile: groupSecret,
      broker: { address: { url: broker.url }, group, receiveMaximum: 100 },
      port: 0,
      http: 0,
      clock: new SystemClock(),
      log: new MemoryLog(),
      ...more,
    });
    hubs.push(hub);
    return hub;
  }

  async function known(hub: Hub): Promise<readonly string[]> {
    return (await hub.store.vehicles()).map(({ vin }) => vin);
  }

  async function untilKnown(hub: Hub, vin: string): Promise<void> {
    // SQLite answers synchronously, so each poll must yield to the event loop.
    while (!(await known(hub)).includes(vin)) await new Promise(setImmediate);
  }

  test('a second hub of the same name on the same database is refused, and the first keeps running', async () => {
    const database = await server.create();
    const first = await start('first', 'names', { database, name: 'one' });
    await expect(start('second', 'names', { database, name: 'one' })).rejects.toMatchObject({
      code: 'usage.wrong',
      message: expect.stringContaining('another hub with the name one uses this database: use another name'),
    });
    const observer = await Observer.connect(broker.url, 5);
    const vin = 'VF3VGEHVBW0000001';
    await observer.send(upTopic(vin, 'trip'), Buffer.from(payloadOf('trip', trip('a'))));
    await observer.close();
    await untilKnown(first, vin);
    await first.stop();
    hubs.length = 0;
    // An orderly stop releases the name.
    await start('second', 'names', { database, name: 'one' });
  });

  test('a hub whose name another takes at the broker stops receiving and logs it, and the two do not alternate endlessly', async () => {
    const log = new MemoryLog();
    const first = await start('apart-1', 'apart', { name: 'one' });
    const second = await start('apart-2', 'apart', { name: 'one', log });
    expect(await first.displaced).toMatchObject({
      code: 'usage.wrong',
      message: expect.stringContaining('another hub with the name one has connected to the broker'),
    });
    const vin = 'VF3VGEHVBW0000002';
    const observer = await Observer.connect(broker.url, 5);
    await observer.send(upTopic(vin, 'trip'), Buffer.from(payloadOf('trip', trip('a'))));
    await observer.close();
    await untilKnown(second, vin);
    expect(await known(first)).not.toContain(vin);
    // One connection at the start, and one after the other hub had taken the name.
    expect(log.lines.filter(({ event }) => event === 'link.connected').length).toBeLessThanOrEqual(2);
  });

  test('a hub that restarts with a long backlog does not mistake its own claim for another hub’s', async () => {
    const waiting = { broker: { address: { url: broker.url }, group: 'waiting', receiveMaximum: 1 }, name: 'one' };
    const first = await start('waiting', 'waiting', waiting);
    await first.stop();
    hubs.length = 0;
    const observer = await Observer.connect(broker.url, 5);
    const vins = Array.from({ length: 20 }, (_, i) => `VF3VGEHVBW00001${String(i).padStart(2, '0')}`);
    for (const vin of vins) await observer.send(upTopic(vin, 'trip'), Buffer.from(payloadOf('trip', trip('a'))));
    const second = await start('waiting', 'waiting', waiting);
    const last = 'VF3VGEHVBW0000200';
    await observer.send(upTopic(last, 'trip'), Buffer.from(payloadOf('trip', trip('a'))));
    await observer.close();
    const displaced = second.displaced.then(({ message }) => message);
    expect(await Promise.race([displaced, untilKnown(second, last).then(() => 'received')])).toBe('received');
  });

  test('while the database is away the broker keeps the messages, and the hub recovers without help', {
    timeout: 180_000 + 3 * AWAY,
  }, async () => {
    const database = await server.create();
    const log = new MemoryLog();
    const hub = await start('away', 'away', { database, log });
    const car = await new DrivingCar({ vin: 'VF3VGEHVBW0000003', url: broker.url }).start();
    try {
      await car.until(() => car.acknowledged.some(({ message: { kind } }) => kind === 'trip'));
      await car.during(server.kill());
      const away = performance.now();
      await car.untilTrip();
      await car.until(() => log.lines.some(({ event }) => event === 'hub.store.failed'));
      await car.untilTrip(1);
      await car.until(() => performance.now() > away + AWAY);
      await car.during(server.start());
      await car.stop();
      const acknowledged = new Set(car.acknowledged.map(({ payload }) => Buffer.from(payload).toString('hex')));
      const stored = async (): Promise<readonly string[]> => {
        const rows = await server.execute(
          database,
          `SELECT payload FROM messages JOIN vehicles ON vehicles.id = vehicle WHERE vin = '${car.vin}'`,
        );
        return rows.map(({ payload }) => (payload as Buffer).toString('hex'));
      };
      let kept = new Set<string>();
      do {
        kept = new Set(await stored());
      } while ([...acknowledged].some((payload) => !kept.has(payload)));
      expect(await stored()).toHaveLength(kept.size);
      expect(await known(hub)).toContain(car.vin);
    } finally {
      await car.remove();
    }
  });

  test('with the shipped broker rules a car cannot publish as another, and garbage is quarantined', async () => {
    let server: Certificate | undefined;
    const secured = new MosquittoRig({
      listener: (port) => {
        server ??= authority.issue('broker');
        return [
          `listener ${port} 127.0.0.1`,
          `cafile ${authority.certFile}`,
          `certfile ${server.certFile}`,
          `keyfile ${server.keyFile}`,
          'require_certificate true',
          'use_identity_as_username true',
          'allow_anonymous false',
          `acl_file ${rules}`,
        ];
      },
    });
    const authority = new Authority(secured.folder);
    await secured.start();
    const url = secured.url.replace('mqtt:', 'mqtts:');
    const tlsOf = ({ cert, key }: Certificate) => ({ ca: authority.cert, cert, key });
    const log = new MemoryLog();
    const hub = await start('rules', 'rules', {
      broker: { address: { url, tls: tlsOf(authority.issue('vigie-cloud')) }, group: 'rules', receiveMaximum: 100 },
      log,
    });
    const [own, other] = ['VF3VGEHVBW0000004', 'VF3VGEHVBW0000005'];
    const car = await new Car(url, { vin: own, tls: tlsOf(authority.issue(own)) }).start();
    try {
      const forged = message('', { topic: upTopic(other, 'trip'), payload: payloadOf('trip', trip('a')) });
      await expect(car.link.publish(forged)).rejects.toMatchObject({ code: 'link.refused' });
      await car.link.publish(message('garbage', { topic: upTopic(own, 'trip') }));
      const right = message('', { topic: upTopic(own, 'trip'), payload: payloadOf('trip', trip('b')) });
      await car.link.publish(right);
      // The same message again, as after a lost acknowledgement.
      await car.link.publish(right);
      await untilKnown(hub, own);
      expect(await known(hub)).toEqual([own]);
      expect(log.lines.filter(({ event }) => event === 'hub.message.refused')).toMatchObject([
        { fields: { topic: upTopic(own, 'trip') } },
      ]);
      const trips = await fetch(`${hub.interface.url}/fleets/local/trips`);
      const found = (await trips.json()) as { _embedded: { trips: { id: string }[] } };
      expect(found._embedded.trips.map(({ id }) => id)).toEqual(['b']);
    } finally {
      await car.link.close();
      for (const one of hubs.splice(0)) await one.stop();
      await secured.remove();
    }
  });
});
