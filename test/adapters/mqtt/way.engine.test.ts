/** How the link chooses a broker address, keep-alive, aliases and will delay, and how it reports its state. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { MqttLinkOptions } from '../../../adapters/mqtt/index.ts';
import { Arrivals } from '../../rig/arrivals.ts';
import { bytes, Car, message, Observer, presence, up } from '../../rig/car.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { describePeer } from '../../rig/peers.ts';
import { Relay } from '../../rig/relay.ts';

describePeer('mosquitto', 'the way to Mosquitto', () => {
  let broker: MosquittoRig;
  let relay: Relay;
  const closers: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    broker = new MosquittoRig();
    await broker.start();
    relay = await Relay.open(broker.port);
  });

  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    await relay.close();
    await broker.remove();
  });

  function makeCar(url: string | readonly string[], options: Partial<MqttLinkOptions> = {}): Car {
    const car = new Car(url, { closeTimeout: 300, ...options });
    closers.push(() => car.link.close());
    return car;
  }

  async function observe(filter: string): Promise<Observer> {
    const observer = await Observer.connect(broker.url, 5, [filter]);
    closers.push(() => observer.close());
    return observer;
  }

  it('sends the full topic once and an alias afterwards', async () => {
    const car = await makeCar(relay.url).start();
    for (let i = 0; i < 20; i++) await car.link.publish(message(`${i}`));
    const sent = Buffer.concat(relay.received[0] ?? []).toString('latin1');
    expect(sent.split(up).length - 1).toBe(1);
  });

  it('connects to the second address, and returns to the first when it is available', async () => {
    const first = new MosquittoRig();
    closers.push(() => first.remove());
    await first.start();
    await first.kill();
    const observer = await observe(presence);
    const car = await makeCar([first.url, broker.url], { homing: 50 }).start();
    expect(car.link.health()).toMatchObject({ state: 'up', broker: broker.url });
    expect((await observer.seen.take()).payload).toBe('online');
    // It tries the first address without success.
    await car.log.take(({ event }) => event === 'link.homingFailed');
    expect(car.link.connected).toBe(true);
    await first.start();
    await car.up();
    expect(car.link.health()).toMatchObject({ state: 'up', broker: first.url });
    await car.link.publish(message('home'));
    // It disconnected properly, so the will was not sent.
    expect(observer.seen.all.map(({ payload }) => payload)).toEqual(['online']);
  });

  it('keeps probing the first address if that accepts connections but never answers', async () => {
    const sockets = new Arrivals<Socket>();
    const silent = createServer((socket) => {
      // Read, so that the server notices when the client closes.
      socket.on('error', () => undefined).resume();
      sockets.push(socket);
    });
    closers.push(
      () =>
        new Promise((resolve) => {
          silent.close(() => resolve());
          for (const socket of sockets.all) socket.destroy();
        }),
    );
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const car = makeCar([`mqtts://127.0.0.1:${port}`, broker.url], { homing: 50, connectTimeout: 300 });
    await car.start();
    // One to connect, and others that probe the address; each is given up.
    for (let i = 0; i < 4; i++) await sockets.take();
    expect(car.link.connected).toBe(true);
    await car.link.close();
    const open = sockets.all.filter((socket) => !socket.destroyed);
    await Promise.all(open.map((socket) => once(socket, 'close')));
  });

  it('pings more often behind a NAT that drops silent connections, and then stays connected', async () => {
    const car = makeCar(relay.url, { keepalive: 2, leastKeepalive: 1 });
    relay.patience = 1400;
    await car.start();
    expect(await car.down()).toMatch(/keepalive/);
    await car.up();
    expect(car.link.health().keepalive).toBe(1);
    const answers = (): number =>
      Buffer.concat(relay.received[1] ?? [])
        .toString('latin1')
        .split('\xc0\0').length - 1;
    // Pings after a second of silence. The broker's answers keep the connection alive in the NAT.
    await expect.poll(answers, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
    expect([relay.forgotten, relay.received.length]).toEqual([1, 2]);
    await car.link.publish(message('still here'));
    expect(car.events.all.filter(({ kind }) => kind === 'down')).toHaveLength(1);
  });

  it('does not publish the will for an interruption shorter than the will delay', async () => {
    const observer = await observe(presence);
    const will = { topic: presence, online: bytes('online'), offline: bytes('offline'), willDelay: 5 };
    const car = await makeCar(relay.url, { presence: will }).start();
    for (let i = 0; i < 3; i++) {
      await observer.seen.take(({ payload }) => payload === 'online');
      relay.cut();
      await car.up();
    }
    await observer.seen.take(({ payload }) => payload === 'online');
    await car.link.close();
    await observer.seen.take(({ payload }) => payload === 'offline');
    expect(observer.seen.all.map(({ payload }) => payload)).toEqual([...Array(4).fill('online'), 'offline']);
  });

  it('reports its broker, since when, the reason, and its counts', async () => {
    const car = makeCar([relay.url], { backoff: { first: 60_000, longest: 60_000 } });
    const began = Date.now();
    expect(car.link.health()).toMatchObject({ state: 'closed', counts: { attempts: 0, ups: 0 } });
    car.open();
    expect(car.link.health().state).toBe('dialing');
    await car.up();
    await car.link.publish(message('1234'));
    const { state, broker: where, protocol, keepalive, since } = car.link.health();
    expect([state, where, protocol, keepalive]).toEqual(['up', relay.url, '5', 60]);
    expect(since).toBeGreaterThanOrEqual(began);
    const { sentBytes } = car.link.health().counts;
    expect(sentBytes).toBe(Buffer.concat(relay.received[0] ?? []).length);
    relay.hold();
    const lost = expect(car.link.publish(message('lost'))).rejects.toMatchObject({ code: 'link.lost' });
    relay.cut();
    await car.down();
    await lost;
    expect(car.link.health()).toMatchObject({
      state: 'waiting',
      reason: expect.stringMatching(/closed|ECONNRESET/),
      counts: {
        attempts: 1,
        ups: 1,
        losses: 1,
        publishedBytes: 4,
        published: 1,
        rejected: 1,
        received: 0,
        oversize: 0,
      },
    });
    await car.link.close();
    expect(car.link.health()).toMatchObject({ state: 'closed', reason: 'closed by this side' });
  });
});
