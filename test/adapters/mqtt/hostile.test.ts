/** Brokers that disconnect without a reason, send invalid packets, or violate the protocol. */
import { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CloudClient, type MqttLinkOptions } from '../../../adapters/mqtt/index.ts';
import { Arrivals } from '../../rig/arrivals.ts';
import { Car, down, message } from '../../rig/car.ts';
import { liveBuffers } from '../../rig/live-buffers.ts';
import { type Answer, obliging, publishHead, ScriptedBroker } from '../../rig/script.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0)) await close();
});

async function carAt(answer: Answer, options: Partial<MqttLinkOptions> = {}): Promise<Car> {
  const broker = await ScriptedBroker.open(answer);
  const car = new Car(broker.url, { closeTimeout: 200, ...options });
  closers.push(
    () => car.link.close(),
    () => broker.close(),
  );
  return car;
}

/** Protocol level in a CONNECT packet (MQTT 3.1.1 clause 3.1.2.2); undefined for other packets. */
function levelOf(packet: Buffer): number | undefined {
  return (packet[0] ?? 0) >> 4 === 1 ? packet[8] : undefined;
}

describe('a broker that supports only MQTT 3.1.1', () => {
  const refusals: Readonly<Record<string, Answer>> = {
    'closes the connection': (_packet, socket) => {
      socket.end();
      return undefined;
    },
    'resets the connection': (_packet, socket) => {
      socket.resetAndDestroy();
      return undefined;
    },
    'refuses the version as 3.1.1 does': () => Uint8Array.of(0x20, 2, 0, 1),
    'refuses the version as 5 does': () => Uint8Array.of(0x20, 3, 0, 0x84, 0),
    'answers with a packet that MQTT 5 does not have': () => Uint8Array.of(0x20, 2, 4, 0),
  };

  it.each(Object.keys(refusals))('and %s gets MQTT 3.1.1 from then on', async (kind) => {
    const levels: (number | undefined)[] = [];
    let socket: Socket | undefined;
    const car = await carAt((packet, from) => {
      const level = levelOf(packet);
      if (level !== undefined) levels.push(level);
      socket = from;
      return level === 5 ? refusals[kind]?.(packet, from) : obliging(packet, from);
    });
    await car.start();
    socket?.destroy();
    await car.up();
    expect(car.link.protocol).toBe(4);
    expect(levels).toEqual([5, 4, 4]);
  });
});

describe('a broker that violates the protocol', () => {
  it.each([
    ['bytes that are not packets', Uint8Array.of(0x00, 0x00)],
    ['a packet for brokers', Uint8Array.of(0x82, 2, 0, 1)],
    ['a remaining length without end', Uint8Array.of(0x30, 0xff, 0xff, 0xff, 0xff, 0x01)],
    ['a second CONNACK', Uint8Array.of(0x20, 2, 0, 0)],
    ['a message with QoS 2', publishHead(0b100, down, 0)],
    ['a message that ends before its packet identifier', Uint8Array.of(0x32, 3, 0, 1, 0x61)],
    ['a release that ends before its packet identifier', Uint8Array.of(0x62, 0)],
    ['a topic longer than its packet', Uint8Array.of(0x32, 4, 0xff, 0xff, 1, 1)],
  ])('with %s is disconnected, and the link reconnects', async (_what, bytes) => {
    let sent = false;
    const car = await carAt(
      (packet, socket) => {
        if (packet[0] === 0xc0 || (packet[0] ?? 0) >> 4 !== 3 || sent) return obliging(packet, socket);
        sent = true;
        return bytes;
      },
      { protocol: 4 },
    );
    await car.start();
    await car.up();
    await car.link.publish(message('still here'));
    expect(car.messages()).toEqual([]);
  });

  it.each([
    ['Server Keep Alive twice', [0x13, 0, 5, 0x13, 0, 5]],
    ['Server Keep Alive twice, first as 0', [0x13, 0, 0, 0x13, 0, 5]],
    ['a Server Keep Alive that is cut off', [0x13, 0]],
    ['a Receive Maximum of 0', [0x21, 0, 0]],
    ['Assigned Client Identifier twice', [0x12, 0, 1, 0x61, 0x12, 0, 1, 0x62]],
    ['a topic alias, which CONNACK does not have', [0x23, 0, 1]],
    ['properties that are longer than the packet', [0x13, 0, 5, 0x1f, 0xff, 0xff]],
  ])('with a CONNACK that has %s is disconnected, and the link reconnects with 3.1.1', async (_what, properties) => {
    const levels: (number | undefined)[] = [];
    const car = await carAt((packet, socket) => {
      const level = levelOf(packet);
      if (level !== undefined) levels.push(level);
      if (level !== 5) return obliging(packet, socket);
      return Uint8Array.of(0x20, 3 + properties.length, 0, 0, properties.length, ...properties);
    });
    await car.start();
    await car.link.publish(message('still here'));
    expect(levels).toEqual([5, 4]);
  });

  it.each([
    ['server keep alive twice', 'server keep alive twice', [0x13, 0, 5, 0x13, 0, 5]],
    ['server keep alive of 0 and then another', 'server keep alive twice', [0x13, 0, 0, 0x13, 0, 5]],
    ['a property that CONNACK does not have', 'may not have the property topic alias', [0x23, 0, 1]],
    ['a property that ends too early', 'ends too early', [0x13, 0]],
    ['a property that does not exist', 'no property 127', [0x7f]],
  ])(
    'with a CONNACK that has %s is disconnected, and the log contains the reason',
    async (_what, reason, properties) => {
      const length = properties.length;
      const car = await carAt(
        (packet) => (levelOf(packet) === 5 ? Uint8Array.of(0x20, length + 3, 0, 0, length, ...properties) : undefined),
        { protocol: 5 },
      );
      car.open();
      const { fields } = await car.log.take(({ event }) => event === 'link.unreachable');
      expect(fields).toMatchObject({ reason: expect.stringContaining(reason) });
      expect(car.link.connected).toBe(false);
    },
  );

  it('with a packet of the maximum size does not make the link allocate memory for it', async () => {
    const acknowledged = new Arrivals<Buffer>();
    const head = publishHead(0b010, down, 0xfff_ff00 - 4 - down.length);
    let sent = false;
    const before = liveBuffers();
    let most = 0;
    const car = await carAt(
      (packet, socket) => {
        const type = (packet[0] ?? 0) >> 4;
        if (type === 4) acknowledged.push(packet);
        if (type !== 3 || sent) return obliging(packet, socket);
        sent = true;
        socket.write(head);
        const zeros = Buffer.alloc(0x1_0000);
        let left = 0xfff_ff00 - 4 - down.length;
        let looked = left;
        const pour = (): void => {
          for (let free = true; free && left > 0; left -= zeros.length) {
            free = socket.write(zeros.subarray(0, Math.min(left, zeros.length)));
          }
          if (left < looked - 0x100_0000) {
            looked = left;
            most = Math.max(most, liveBuffers());
          }
          if (left > 0) socket.once('drain', pour);
        };
        pour();
        return undefined;
      },
      { protocol: 4, maximumPacket: 4096 },
    );
    await car.start();
    const { fields } = await car.log.take(({ event }) => event === 'link.oversize');
    expect(fields).toEqual({ bytes: 5 + 0xfff_ff00, allowed: 4096 });
    // Acknowledged, so that the broker does not send it again.
    expect([...(await acknowledged.take())]).toEqual([0x40, 2, 0, 7]);
    await car.up();
    expect(most).toBeGreaterThan(0);
    expect(most - before).toBeLessThan(0x200_0000);
    expect(car.messages()).toEqual([]);
  });

  it('and reports that another client took over the session is contacted again with the same version', async () => {
    let sent = false;
    const car = await carAt((packet, socket) => {
      if (levelOf(packet) !== undefined) return Uint8Array.of(0x20, 3, 0, 0, 0);
      const type = (packet[0] ?? 0) >> 4;
      if (type === 8) return Uint8Array.of(0x90, 4, packet[2] ?? 0, packet[3] ?? 0, 0, 1);
      if (type !== 3 || sent) return undefined;
      sent = true;
      socket.write(Uint8Array.of(0xe0, 2, 0x8e, 0));
      return undefined;
    });
    await car.start();
    expect(await car.down()).toContain('Session taken over (0x8e)');
    await car.up();
    expect(car.link.protocol).toBe(5);
  });

  it('and refuses the subscription is disconnected and contacted again; meanwhile the link is not up', async () => {
    let refusedOnce = false;
    const car = await carAt(
      (packet, socket) => {
        if ((packet[0] ?? 0) >> 4 !== 8 || refusedOnce) return obliging(packet, socket);
        refusedOnce = true;
        return Uint8Array.of(0x90, 3, packet[2] ?? 0, packet[3] ?? 0, 0x80);
      },
      { protocol: 4 },
    );
    car.open();
    await car.log.take(({ event }) => event === 'link.subscription');
    expect(car.link.connected).toBe(false);
    await car.up();
    expect(car.events.all).toEqual([{ kind: 'up' }]);
  });

  it('and never answers is given up at the time limit', async () => {
    const car = await carAt(() => undefined, { connectTimeout: 50 });
    car.open();
    const { fields } = await car.log.take(({ event }) => event === 'link.unreachable');
    expect(fields).toMatchObject({ reason: expect.stringContaining('no answer within 0.05 s') });
    // It must not count as a broker that refuses MQTT 5.
    expect(car.log.all.filter(({ event }) => event === 'link.fallback')).toEqual([]);
  });
});

describe('an error while connecting', () => {
  it('contains the address, the reason and advice', async () => {
    const broker = await ScriptedBroker.open(() => Uint8Array.of(0x20, 3, 0, 0x86, 0));
    closers.push(() => broker.close());
    await expect(CloudClient.connect(broker.url)).rejects.toMatchObject({
      code: 'link.refused',
      where: broker.url,
      message: `${broker.url}: cannot connect: Bad User Name or Password (0x86) (the broker does not let this client in; check client id, user, password and certificate)`,
    });
  });
});

describe('the socket', () => {
  it("sends small packets at once (no delay by Nagle's algorithm)", async () => {
    const set = vi.spyOn(Socket.prototype, 'setNoDelay');
    const car = await carAt(obliging, { protocol: 4 });
    await car.start();
    expect(set.mock.calls).toEqual([[true]]);
  });
});
