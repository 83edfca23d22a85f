import { afterEach, describe, expect, it } from 'vitest';
import { EmbeddedBroker } from '../../../adapters/mqtt/index.ts';
import { Arrivals } from '../../rig/arrivals.ts';
import { Car, message, Observer } from '../../rig/car.ts';

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

  it('listens on a free loopback port and returns its address', async () => {
    const broker = make();
    expect(() => broker.url).toThrow('has not been started');
    const { url } = await broker.start();
    expect(url).toMatch(/^mqtt:\/\/127\.0\.0\.1:\d+$/);
    expect(await broker.start()).toEqual({ url });
    expect(broker.url).toBe(url);
  });

  it('reports a port in use, with advice', async () => {
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

  it("speaks MQTT 3.1.1, and the car's log says so", async () => {
    const car = await new Car((await make().start()).url).start();
    const told = await Promise.all(
      ['link.fallback', 'link.connected'].map((name) => car.log.take(({ event }) => event === name)),
    );
    expect(told.map(({ fields }) => fields)).toMatchObject([{ protocol: '3.1.1' }, { protocol: '3.1.1' }]);
    await car.link.close();
  });

  it('acknowledges and passes on a message only after it was accepted', async () => {
    const taken = new Arrivals<{ readonly topic: string; readonly payload: string; readonly done: () => void }>();
    const broker = make({
      accept: (topic, payload) =>
        new Promise((done) => taken.push({ topic, payload: new TextDecoder().decode(payload), done })),
    });
    const { url } = await broker.start();
    const [client, observer] = [await Observer.connect(url, 4), await Observer.connect(url, 4, ['a/#'])];
    let acknowledged = 0;
    const sent = ['one', 'two'].map((text) => client.send('a/b', text).then(() => ++acknowledged));
    const [one, two] = [await taken.take(), await taken.take()];
    expect([one, two]).toMatchObject([
      { topic: 'a/b', payload: 'one' },
      { topic: 'a/b', payload: 'two' },
    ]);
    // Messages of the broker itself are passed on at once: if the others had been passed on, the observer would have
    // them.
    await broker.publish('a/own', new Uint8Array());
    await observer.seen.take(({ topic }) => topic === 'a/own');
    expect([acknowledged, observer.seen.all.length]).toEqual([0, 1]);
    for (const { done } of [one, two]) done();
    await Promise.all(sent);
    expect([await observer.seen.take(), await observer.seen.take()].map(({ payload }) => payload)).toEqual([
      'one',
      'two',
    ]);
    for (const one of [client, observer]) await one.close();
  });

  it('disconnects without an acknowledgement if a message cannot be accepted', async () => {
    let disk: 'full' | 'free' = 'full';
    const kept: string[] = [];
    const broker = make({
      accept: async (_topic, payload) => {
        if (disk === 'full') throw new Error('disk full');
        kept.push(new TextDecoder().decode(payload));
      },
    });
    const car = await new Car((await broker.start()).url).start();
    await expect(car.link.publish(message('one'))).rejects.toMatchObject({ code: 'link.lost' });
    disk = 'free';
    await car.up();
    await car.link.publish(message('one'));
    expect(kept.filter((one) => one === 'one')).toEqual(['one']);
    await car.link.close();
  });

  it('refuses messages from clients on topics of the broker itself', async () => {
    const accepted: string[] = [];
    const broker = make({ accept: async (topic) => void accepted.push(topic) });
    const client = await Observer.connect((await broker.start()).url, 4);
    const closed = new Promise<void>((resolve) => client.client.once('close', () => resolve()));
    client.client.publish('$SYS/own', 'x', { qos: 1 });
    await closed;
    expect(accepted).toEqual([]);
    await client.close();
  });

  it('reports the filters to which clients subscribe, and can publish messages to them', async () => {
    const filters = new Arrivals<string>();
    const broker = make({ subscribed: (filter) => filters.push(filter) });
    await expect(broker.publish('a/b', new Uint8Array())).rejects.toMatchObject({ code: 'link.lost' });
    const { url } = await broker.start();
    const observer = await Observer.connect(url, 4, ['a/#']);
    await filters.take((filter) => filter === 'a/#');
    await broker.publish('a/b', new TextEncoder().encode('hello'));
    expect(await observer.seen.take()).toMatchObject({ topic: 'a/b', payload: 'hello', packet: { qos: 1 } });
    await observer.close();
  });

  it('reports an address that does not belong to this machine', async () => {
    await expect(make({ host: '192.0.2.1' }).start()).rejects.toMatchObject({
      code: 'usage.wrong',
      message: expect.stringContaining('127.0.0.1'),
    });
  });

  it('ends all connections when it stops, and keeps retained messages until the next start', async () => {
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
