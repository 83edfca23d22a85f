/** Contract of the cloud client over every broker. */
import { connectAsync } from 'mqtt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CloudClient, type CloudClientOptions } from '../../adapters/mqtt/index.ts';
import { Arrivals } from '../rig/arrivals.ts';
import type { BrokerRig } from '../rig/broker.ts';
import { bytes, Observer, text } from '../rig/car.ts';
import { Relay } from '../rig/relay.ts';

interface Got {
  readonly topic: string;
  readonly payload: string;
  readonly retained: boolean;
  readonly correlation?: string;
}

export function cloudClientContract(name: string, make: () => BrokerRig, version: 4 | 5): void {
  describe(name, () => {
    let broker: BrokerRig;
    let relay: Relay;
    const closers: (() => Promise<void>)[] = [];

    beforeEach(async () => {
      broker = make();
      await broker.start();
      relay = await Relay.open(broker.port);
    });

    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
      await relay.close();
      await broker.remove();
    });

    async function connect(options?: CloudClientOptions): Promise<CloudClient> {
      const client = await CloudClient.connect(relay.url, options);
      closers.push(() => client.close());
      return client;
    }

    async function collect(client: CloudClient, filter: string): Promise<Arrivals<Got>> {
      const got = new Arrivals<Got>();
      await client.subscribe(filter, (topic, payload, { retained, correlation }) => {
        const extra = correlation === undefined ? {} : { correlation: text(correlation) };
        got.push({ topic, payload: text(payload), retained, ...extra });
      });
      return got;
    }

    it('publishes and receives messages with their MQTT 5 properties', async () => {
      const client = await connect();
      const got = await collect(client, 'a/+');
      const observer = await Observer.connect(broker.url, version, ['a/b']);
      closers.push(() => observer.close());
      const options = { expiry: 30, responseTopic: 'a/answer', correlation: bytes('c-1') };
      await client.publish('a/b', bytes('hello'), options);
      const five = version === 5;
      const expected = { topic: 'a/b', payload: 'hello', retained: false, ...(five ? { correlation: 'c-1' } : {}) };
      expect(await got.take()).toEqual(expected);
      const { messageExpiryInterval, responseTopic } = (await observer.seen.take()).packet.properties ?? {};
      expect([messageExpiryInterval, responseTopic]).toEqual(five ? [30, 'a/answer'] : [undefined, undefined]);
    });

    it('marks retained messages as retained', async () => {
      const client = await connect();
      await client.publish('a/b', bytes('kept'), { retain: true });
      const got = await collect(client, '#');
      expect(await got.take()).toEqual({ topic: 'a/b', payload: 'kept', retained: true });
    });

    it('reconnects automatically and receives messages sent meanwhile', async () => {
      const client = await connect({ keepalive: 1 });
      const got = await collect(client, 'a/b');
      const observer = await Observer.connect(broker.url, version);
      closers.push(() => observer.close());
      relay.hold();
      relay.cut();
      await observer.send('a/b', 'meanwhile');
      relay.release();
      expect((await got.take()).payload).toBe('meanwhile');
    });

    it('subscribes again if the broker has lost the session', async () => {
      const client = await connect();
      const got = await collect(client, 'a/b');
      await broker.kill();
      await expect(client.publish('a/b', bytes('lost'))).rejects.toMatchObject({ code: 'link.lost' });
      await broker.start();
      const observer = await Observer.connect(broker.url, version);
      closers.push(() => observer.close());
      // Repeated until a subscriber receives it.
      const taken = got.take();
      let there = false;
      void taken.then(() => {
        there = true;
      });
      while (!there) await observer.send('a/b', 'again');
      expect((await taken).payload).toBe('again');
    });

    it('ends a subscription without ending another with the same filter', async () => {
      const client = await connect();
      const first: string[] = [];
      const subscription = await client.subscribe('a/b', (_topic, payload) => first.push(text(payload)));
      const second = await collect(client, 'a/b');
      await subscription.close();
      await subscription.close();
      await client.publish('a/b', bytes('one'));
      expect((await second.take()).payload).toBe('one');
      expect(first).toEqual([]);
    });

    it('keeps running when a receiver throws', async () => {
      const client = await connect();
      await client.subscribe('a/b', () => {
        throw new Error('the receiver has a fault');
      });
      const got = await collect(client, '#');
      await client.publish('a/b', bytes('one'));
      expect((await got.take()).payload).toBe('one');
      expect(client.connected).toBe(true);
    });

    it('after closing it receives nothing, and the broker keeps no session for it', async () => {
      const clientId = 'somebody';
      const client = await CloudClient.connect(broker.url, { clientId });
      const got = await collect(client, 'a/b');
      await client.close();
      await client.close();
      await expect(client.publish('a/b', bytes('x'))).rejects.toMatchObject({ code: 'link.lost' });
      const observer = await Observer.connect(broker.url, version);
      closers.push(() => observer.close());
      await observer.send('a/b', 'too late');
      const heir = await connectAsync(broker.url, { protocolVersion: version, clientId, clean: false });
      const messages: string[] = [];
      heir.on('message', (_topic, payload) => messages.push(payload.toString()));
      await heir.subscribeAsync('c', { qos: 1 });
      const arrived = new Promise((resolve) => heir.once('message', resolve));
      await observer.send('c', 'now');
      await arrived;
      expect([got.all, messages]).toEqual([[], ['now']]);
      await heir.endAsync(true);
    });

    it('if no broker listens, the error says where, why and what to do', async () => {
      const url = broker.url;
      await broker.kill();
      await expect(CloudClient.connect(url)).rejects.toMatchObject({
        code: 'link.refused',
        where: url,
        message: expect.stringMatching(/ECONNREFUSED.*start it or correct the address/),
      });
    });
  });
}
