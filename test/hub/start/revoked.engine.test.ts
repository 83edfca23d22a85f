/** Cars of a hub on Mosquitto, a broker run by others: revoked certificates and unregistered cars. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import 'reflect-metadata';
import { X509Crl } from '@peculiar/x509';
import { afterAll, expect, test } from 'vitest';
import {
  CertificateAuthority,
  enrol,
  fetchAuthority,
  newCarKey,
  readEnrolmentToken,
} from '../../../adapters/certificates/index.ts';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { issueAccess } from '../../../hub/start/access.ts';
import { issueToken } from '../../../hub/start/enrolment.ts';
import { startHub } from '../../../hub/start/hub.ts';
import { openRegistry } from '../../../hub/start/registry.ts';
import type { FleetTable } from '../../../protocol/interface/own/hub-overview.ts';
import { upTopic } from '../../../protocol/topics.ts';
import { MemoryLog } from '../../rig/log.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { MqttClient } from '../../rig/mqtt-client.ts';
import { describePeer } from '../../rig/peers.ts';
import { hubTokenKeys } from '../hub-tokens.ts';
import { payloadOf, trip } from '../messages.ts';

const [ONE, OTHER] = ['VF3VGEHVBM0000001', 'VF3VGEHVBM0000002'] as const;
const north = [{ kind: 'fleet', id: 'north' }] as const;

describePeer('mosquitto', 'cars of a hub on Mosquitto', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-revoked-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const log = new MemoryLog();
  const clock = new SystemClock();

  test('the broker refuses a removed car by the hub’s revocation list, and admits the others', async () => {
    const data = join(folder, 'revoked');
    const broker: MosquittoRig = new MosquittoRig({
      listener: (port) => [
        `listener ${port} 127.0.0.1`,
        `cafile ${join(broker.folder, 'ca.pem')}`,
        `certfile ${join(broker.folder, 'server.pem')}`,
        `keyfile ${join(broker.folder, 'server.pem')}`,
        `crlfile ${join(data, 'revoked.pem')}`,
        'require_certificate true',
        'use_identity_as_username true',
      ],
    });
    const { registry, close } = await openRegistry({ data }, log);
    for (const vin of [ONE, OTHER]) await registry.add(vin, north, Date.now());
    const hub = await startHub({ data, port: 0, http: 0, secure: { names: ['localhost'], enrolment: 0 }, clock, log });
    try {
      const url = `https://localhost:${hub.enrolment}`;
      const authority = await CertificateAuthority.open(data);
      const server = await authority.certifyHub(['localhost'], Date.now());
      // Mosquitto drops root rights and reads its key as another user.
      writeFileSync(join(broker.folder, 'server.pem'), server.key + server.cert, { mode: 0o644 });
      writeFileSync(join(broker.folder, 'ca.pem'), authority.pem);
      const cars = new Map<string, string>();
      for (const vin of [ONE, OTHER]) {
        const token = readEnrolmentToken(await issueToken(data, registry, vin, Date.now()));
        cars.set(vin, (await enrol(url, await fetchAuthority(url, token), token, await newCarKey())).pem);
      }
      const connect = (vin: string) => {
        const pem = cars.get(vin) as string;
        const address = `mqtts://localhost:${broker.port}`;
        return MqttClient.connect(address, { clientId: vin, ca: authority.pem, cert: pem, key: pem });
      };
      await broker.start();
      for (const vin of [ONE, OTHER]) await (await connect(vin)).end();
      await registry.remove(ONE, Date.now());
      const revoked = (): number => new X509Crl(readFileSync(join(data, 'revoked.pem'), 'utf8')).entries.length;
      while (revoked() === 0) await setTimeout(10);
      await broker.stop();
      await broker.start();
      await expect(connect(ONE)).rejects.toThrow();
      await (await connect(OTHER)).end();
    } finally {
      await hub.stop();
      await close();
      await broker.remove();
    }
  });

  test('messages of an unregistered car wait for its registration and do not block other cars', async () => {
    const data = join(folder, 'dropped');
    const broker = new MosquittoRig();
    await broker.start();
    const { registry, close } = await openRegistry({ data }, log);
    await registry.add(OTHER, north, Date.now());
    // More messages than the receive maximum.
    const address = { url: broker.url, protocol: 5 as const };
    const hub = await startHub({
      data,
      port: 0,
      http: 0,
      metrics: 0,
      clock,
      log,
      broker: { address, group: 'hubs', receiveMaximum: 3 },
    });
    try {
      const client = await MqttClient.connect(broker.url, { clientId: 'both' });
      for (let seq = 0; seq < 20; seq++) {
        for (const vin of [ONE, OTHER]) {
          const payload = payloadOf('trip', trip(`a${seq}`), { vin, seq });
          expect(await client.publish(upTopic(vin, 'trip'), payload)).toBe('acknowledged');
        }
      }
      const arrived = async () => (await hub.store.numbers(OTHER))?.[0]?.arrived;
      while (JSON.stringify(await arrived()) !== '[[0,19]]') await setTimeout(10);
      const metrics = async () => (await fetch(`http://${hub.metrics}/metrics`)).text();
      // The hub stores messages of different cars in any order.
      while (!/^vigie_hub_unregistered_messages 20$/m.test(await metrics())) await setTimeout(10);
      expect(await metrics()).toMatch(/^vigie_hub_unregistered_cars 1$/m);
      expect(await hub.store.numbers(ONE)).toBeUndefined();
      expect(log.lines).toContainEqual(
        expect.objectContaining({ event: 'hub.car.unregistered', fields: expect.objectContaining({ vin: ONE }) }),
      );
      const table = async () =>
        (await fetch(`${hub.interface.url}/vigie/v1/vehicles`, { headers })).json() as Promise<FleetTable>;
      const issued = Date.now();
      const grant = { name: 'ops', fleets: ['north'], issued, expires: issued + 600_000 };
      const token = async (scopes: string[]) =>
        issueAccess(await hubTokenKeys({ data }), registry, { ...grant, scopes });
      let headers = { authorization: `Bearer ${await token(['data:telemetry', 'hub:status:read'])}` };
      expect(await table()).toMatchObject({ total: 1, unregistered: 1 });
      headers = { authorization: `Bearer ${await token(['data:telemetry'])}` };
      expect(await table()).not.toHaveProperty('unregistered');
      // Another process registers it, as `vigie hub add` does.
      await registry.add(ONE, north, Date.now());
      const own = async () => (await hub.store.numbers(ONE))?.[0]?.arrived;
      while (JSON.stringify(await own()) !== '[[0,19]]') await setTimeout(10);
      // The table of cars follows the registry within a second.
      while ((await table()).total !== 2) await setTimeout(10);
      await client.end();
    } finally {
      await hub.stop();
      await close();
      await broker.remove();
    }
  });
});
