/** Clients that acknowledge a message only after they have stored it, like every hub, over Mosquitto. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CloudClient, type CloudClientOptions, type Receive } from '../../../adapters/mqtt/index.ts';
import { Arrivals } from '../../rig/arrivals.ts';
import { Observer, text } from '../../rig/car.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { describePeer } from '../../rig/peers.ts';

const FILTER = '$share/hubs/a/+';

describePeer('mosquitto', 'clients that acknowledge later', () => {
  let broker: MosquittoRig;
  let sender: Observer;
  const clients: CloudClient[] = [];

  beforeEach(async () => {
    broker = new MosquittoRig({ settings: ['max_inflight_messages 1000', 'max_queued_messages 1000000'] });
    await broker.start();
    sender = await Observer.connect(broker.url, 5);
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await sender.close();
    await broker.remove();
  });

  async function connect(clientId: string, receive: Receive, more: CloudClientOptions = {}): Promise<CloudClient> {
    const client = await CloudClient.connect(broker.url, {
      clientId,
      keepsSession: true,
      subscriptions: () => [{ filter: FILTER, receive }],
      backoff: { first: 20, longest: 100 },
      ...more,
    });
    clients.push(client);
    return client;
  }

  test('acknowledgements are sent in the order of the messages', async () => {
    const came = new Arrivals<{ readonly payload: string; acknowledge(): void }>();
    const client = await connect(
      'one',
      (_topic, payload) =>
        new Promise<void>((resolve) => came.push({ payload: text(payload), acknowledge: () => resolve() })),
      { receiveMaximum: 2 },
    );
    for (let i = 0; i < 3; i++) await sender.send('a/b', `m${i}`);
    const first = await came.take();
    const second = await came.take();
    second.acknowledge();
    // The broker answers in order. If the acknowledgement had been sent, the next message would have arrived before.
    await client.publish('c', new Uint8Array(1));
    expect(came.all.map(({ payload }) => payload)).toEqual(['m0', 'm1']);
    first.acknowledge();
    const third = await came.take();
    expect(third.payload).toBe('m2');
    third.acknowledge();
  });

  test('a rejected message is delivered again, and an acknowledged one is not', async () => {
    const came = new Arrivals<string>();
    let refusals = 1;
    await connect('one', async (_topic, payload) => {
      came.push(text(payload));
      if (text(payload) === 'm1' && refusals-- > 0) throw new Error('the disk is full');
    });
    for (const payload of ['m0', 'm1', 'm2']) await sender.send('a/b', payload);
    await came.take((payload) => payload === 'm1');
    await came.take((payload) => payload === 'm1');
    await came.take((payload) => payload === 'm2');
    expect(came.all.filter((payload) => payload === 'm0')).toHaveLength(1);
    expect(came.all.filter((payload) => payload === 'm1')).toHaveLength(2);
  });

  test('the backlog of a session is delivered to the next process with the same name', async () => {
    const first = await connect('one', async () => undefined);
    await first.close();
    await sender.send('a/b', 'meanwhile');
    const came = new Arrivals<string>();
    const sessions: boolean[] = [];
    await connect('one', async (_topic, payload) => void came.push(text(payload)), {
      ready: (_abilities, sessionPresent) => sessions.push(sessionPresent),
    });
    expect(await came.take()).toBe('meanwhile');
    expect(sessions).toEqual([true]);
  });

  test('close waits until pending messages are stored and acknowledges them', async () => {
    let keep: () => void = () => undefined;
    const came = new Arrivals<string>();
    const receive: Receive = (_topic, payload) => {
      came.push(text(payload));
      return new Promise<void>((resolve) => {
        keep = resolve;
      });
    };
    const first = await connect('one', receive);
    await sender.send('a/b', 'm0');
    await came.take();
    const closed = first.close();
    keep();
    await closed;
    await sender.send('a/b', 'm1');
    await connect('one', receive);
    expect(await came.take()).toBe('m1');
    keep();
  });

  test('the two members of a group get each message once, and each gets some', async () => {
    const [one, other]: [string[], string[]] = [[], []];
    const all = new Arrivals<string>();
    const into =
      (list: string[]): Receive =>
      async (_topic, payload) => {
        list.push(text(payload));
        all.push(text(payload));
      };
    await connect('one', into(one));
    await connect('other', into(other));
    for (let i = 0; i < 20; i++) await sender.send('a/b', `m${i}`);
    for (let i = 0; i < 20; i++) await all.take();
    expect(new Set(all.all).size).toBe(20);
    expect(Math.min(one.length, other.length)).toBeGreaterThan(0);
  });
});
