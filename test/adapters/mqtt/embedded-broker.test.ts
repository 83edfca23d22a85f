import { afterEach, describe, expect, it } from 'vitest';
import { EmbeddedBroker } from '../../../adapters/mqtt/index.ts';
import { Car, Observer } from '../../rig/car.ts';

describe('the embedded broker', () => {
  const brokers: EmbeddedBroker[] = [];

  function make(options?: ConstructorParameters<typeof EmbeddedBroker>[0]): EmbeddedBroker {
    const broker = new EmbeddedBroker(options);
    brokers.push(broker);
    return broker;
  }

  afterEach(async () => {
    for (const broker of brokers.splice(0)) await broker.stop();
  });

  it('listens on a free port of the loopback and says which', async () => {
    const broker = make();
    expect(() => broker.url).toThrow('has not been started');
    const { url } = await broker.start();
    expect(url).toMatch(/^mqtt:\/\/127\.0\.0\.1:\d+$/);
    expect(await broker.start()).toEqual({ url });
    expect(broker.url).toBe(url);
  });

  it('says so when the port is taken, and what to do', async () => {
    const { url } = await make().start();
    const port = Number(new URL(url).port);
    const second = make({ port });
    await expect(second.start()).rejects.toMatchObject({
      code: 'usage.wrong',
      where: `127.0.0.1:${port}`,
      message: expect.stringContaining('choose another port'),
    });
    await brokers[0]?.stop();
    expect(await second.start()).toEqual({ url });
  });

  it('speaks MQTT 3.1.1, by which name the log of the car calls it', async () => {
    const car = await new Car((await make().start()).url).start();
    const told = await Promise.all(
      ['link.fallback', 'link.connected'].map((name) => car.log.take(({ event }) => event === name)),
    );
    expect(told.map(({ fields }) => fields)).toMatchObject([{ protocol: '3.1.1' }, { protocol: '3.1.1' }]);
    await car.link.close();
  });

  it('says so when the address is not of this machine', async () => {
    await expect(make({ host: '192.0.2.1' }).start()).rejects.toMatchObject({
      code: 'usage.wrong',
      message: expect.stringContaining('127.0.0.1'),
    });
  });

  it('ends all connections when it stops, and keeps what is retained until the next start', async () => {
    const broker = make();
    const { url } = await broker.start();
    const client = await Observer.connect(url, 4);
    await client.client.publishAsync('a/b', 'kept', { qos: 1, retain: true });
    const closed = new Promise<void>((resolve) => client.client.once('close', () => resolve()));
    await broker.stop();
    await broker.stop();
    await closed;
    expect(await broker.start()).toEqual({ url });
    const late = await Observer.connect(url, 4, ['a/#']);
    expect((await late.seen.take()).payload).toBe('kept');
    await late.close();
  });
});
