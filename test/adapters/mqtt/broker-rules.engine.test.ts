/** Tests the shipped example rules for Mosquitto, with TLS and certificates. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CloudClient, type MqttLinkOptions } from '../../../adapters/mqtt/index.ts';
import { Arrivals } from '../../rig/arrivals.ts';
import { bytes, Car, message, text, up, vin } from '../../rig/car.ts';
import { Authority, type Certificate } from '../../rig/certificates.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { describePeer } from '../../rig/peers.ts';

const brokers = fileURLToPath(new URL('../../../config/brokers/', import.meta.url));
const otherVin = 'VF3VGEBENCH000002';

describePeer('mosquitto', 'the example configuration of Mosquitto', () => {
  let authority: Authority;
  let broker: MosquittoRig;
  let url: string;
  let ours: Certificate;
  let other: Certificate;
  let cloud: CloudClient;
  const seen = new Arrivals<string>();
  const cars: Car[] = [];

  /** The shipped file with the paths, port and address of this test. */
  function shipped(port: number, server: Certificate): readonly string[] {
    const places: Readonly<Record<string, string>> = {
      listener: `listener ${port} 127.0.0.1`,
      cafile: `cafile ${authority.certFile}`,
      certfile: `certfile ${server.certFile}`,
      keyfile: `keyfile ${server.keyFile}`,
      acl_file: `acl_file ${brokers}mosquitto.acl`,
    };
    const own = new Set(['persistence', 'persistence_location', 'set_tcp_nodelay']);
    return readFileSync(`${brokers}mosquitto.conf`, 'utf8')
      .split('\n')
      .map((line) => ({ line, word: line.split(' ')[0] ?? '' }))
      .filter(({ word }) => word !== '' && word !== '#' && !own.has(word))
      .map(({ line, word }) => places[word] ?? line);
  }

  function tlsOf({ cert, key }: Certificate): NonNullable<MqttLinkOptions['tls']> {
    return { ca: authority.cert, cert, key };
  }

  async function startCar(options: Partial<MqttLinkOptions>): Promise<Car> {
    const car = new Car(url, { clientId: `car-${cars.length}`, ...options });
    cars.push(car);
    return car.start();
  }

  beforeAll(async () => {
    let server: Certificate | undefined;
    broker = new MosquittoRig({
      listener: (port) => {
        server ??= authority.issue('broker');
        return shipped(port, server);
      },
    });
    authority = new Authority(broker.folder);
    await broker.start();
    url = broker.url.replace('mqtt:', 'mqtts:');
    ours = authority.issue(vin);
    other = authority.issue(otherVin);
    cloud = await CloudClient.connect(url, { tls: tlsOf(authority.issue('vigie-cloud')) });
    await cloud.subscribe('vigie/1/+/up/+', (topic, payload) => seen.push(`${topic} ${text(payload)}`));
  });

  afterAll(async () => {
    for (const car of cars) await car.link.close();
    await cloud?.close();
    await broker?.remove();
  });

  it('a car can publish under its own VIN and no other', async () => {
    const car = await startCar({ tls: tlsOf(ours) });
    const foreign = `vigie/1/${otherVin}/up/event`;
    await expect(car.link.publish(message('forged', { topic: foreign }))).rejects.toMatchObject({
      code: 'link.refused',
      where: foreign,
      message: expect.stringContaining('Not authorized (0x87)'),
    });
    for (const topic of [`vigie/1/${vin}/down/remote`, `vigie/1/${otherVin}/presence`, 'vigie/1', '$SYS/broker']) {
      await expect(car.link.publish(message('forged', { topic }))).rejects.toMatchObject({ code: 'link.refused' });
    }
    await car.link.publish(message('own'));
    expect(await seen.take()).toBe(`${up} own`);
    expect(car.link.connected).toBe(true);
  });

  it('on MQTT 3.1.1, which cannot report a refusal, the broker drops forbidden messages', async () => {
    const car = await startCar({ tls: tlsOf(ours), protocol: 4 });
    await car.link.publish(message('forged', { topic: `vigie/1/${otherVin}/up/event` }));
    await car.link.publish(message('own again'));
    expect(await seen.take()).toBe(`${up} own again`);
    expect(seen.all.filter((line) => line.includes('forged'))).toEqual([]);
  });

  it('a car receives only messages sent to it, whatever its subscriptions and client id', async () => {
    const spy = await startCar({
      tls: tlsOf(other),
      down: 'vigie/1/#',
      username: vin,
      clientId: vin,
      presence: { topic: `vigie/1/${otherVin}/presence`, online: bytes('on'), offline: bytes('off') },
    });
    const car = await startCar({ tls: tlsOf(ours) });
    await cloud.publish(`vigie/1/${vin}/down/remote`, bytes('for the first'));
    await cloud.publish(`vigie/1/${otherVin}/down/remote`, bytes('for the second'));
    await car.message();
    await spy.message();
    expect(car.messages()).toEqual(['for the first']);
    expect(spy.messages()).toEqual(['for the second']);
  });

  it('a client without a certificate from the authority is refused', async () => {
    const stranger = new Authority(broker.folder, 'stranger').issue(vin);
    const attempts = [{ ca: authority.cert }, { ca: authority.cert, cert: stranger.cert, key: stranger.key }];
    for (const tls of attempts) {
      await expect(CloudClient.connect(url, { tls })).rejects.toMatchObject({
        code: 'link.refused',
        where: url,
      });
    }
  });

  it('a client with another authority does not trust the broker', async () => {
    const ca = new Authority(broker.folder, 'another').cert;
    await expect(CloudClient.connect(url, { tls: { ...tlsOf(ours), ca } })).rejects.toMatchObject({
      code: 'link.refused',
      message: expect.stringContaining('give it as ca'),
    });
  });
});
