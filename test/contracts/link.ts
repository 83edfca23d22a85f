/** Contract of every {@link Link} over every broker. The relay between them makes the network fail on demand. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MqttLinkOptions } from '../../adapters/mqtt/index.ts';
import { UnitRest } from '../../agent/power/rest.ts';
import type { BrokerRig } from '../rig/broker.ts';
import { bytes, Car, down, message, Observer, presence, up, vin } from '../rig/car.ts';
import { Relay } from '../rig/relay.ts';

export interface LinkContract {
  /** A broker that has not been started. */
  readonly broker: () => BrokerRig;
  /** Protocol versions that the link may use. */
  readonly protocol: 'auto' | 5 | 4;
  /** Protocol version that it must end up using. */
  readonly spoken: 5 | 4;
  /** Receive maximum that the broker announces, or undefined if it cannot. */
  readonly receiveMaximum?: number;
}

export function linkContract(name: string, contract: LinkContract): void {
  describe(name, () => {
    let broker: BrokerRig;
    let relay: Relay;
    let cars: Car[];
    let observers: Observer[];

    beforeEach(async () => {
      broker = contract.broker();
      await broker.start();
      relay = await Relay.open(broker.port);
      cars = [];
      observers = [];
    });

    afterEach(async () => {
      relay.release();
      for (const car of cars) await car.link.close();
      for (const observer of observers) await observer.close();
      await relay.close();
      await broker.remove();
    });

    function makeCar(options: Partial<MqttLinkOptions> = {}): Car {
      const car = new Car(relay.url, { protocol: contract.protocol, closeTimeout: 300, ...options });
      cars.push(car);
      return car;
    }

    /** Connects directly to the broker, without the relay. */
    async function observe(...filters: readonly string[]): Promise<Observer> {
      const observer = await Observer.connect(broker.url, contract.spoken, filters);
      observers.push(observer);
      return observer;
    }

    it(`speaks MQTT ${contract.spoken === 5 ? '5' : '3.1.1'} and is up only when it is subscribed`, async () => {
      const observer = await observe();
      const car = await makeCar().start();
      expect(car.link.protocol).toBe(contract.spoken);
      expect(car.link.connected).toBe(true);
      await observer.send(down, 'wake');
      expect(await car.message()).toEqual({ kind: 'message', topic: down, payload: 'wake' });
    });

    it('remembers the protocol version of the broker', async () => {
      const car = await makeCar().start();
      const before = relay.received.length;
      relay.cut();
      await car.up();
      expect(relay.received.length).toBe(before + 1);
      expect(car.link.protocol).toBe(contract.spoken);
    });

    it('resolves a publish when the broker has the message once, on its topic', async () => {
      const observer = await observe(`vigie/1/${vin}/up/+`);
      const car = await makeCar().start();
      // More topics than the broker allows aliases.
      const topics = Array.from({ length: 40 }, (_, i) => `vigie/1/${vin}/up/kind${i % 17}`);
      await Promise.all(topics.map((topic, i) => car.link.publish(message(`${i}`, { topic }))));
      await car.link.publish(message('last'));
      await observer.seen.take(({ payload }) => payload === 'last');
      const seen = observer.seen.all.slice(0, -1).map(({ topic, payload }) => `${topic} ${payload}`);
      expect(seen.sort()).toEqual(topics.map((topic, i) => `${topic} ${i}`).sort());
    });

    it('retains messages at the broker', async () => {
      const car = await makeCar().start();
      await car.link.publish(message('kept', { retain: true }));
      const late = await observe(up);
      const { payload, packet } = await late.seen.take();
      expect([payload, packet.retain]).toEqual(['kept', true]);
    });

    it('rejects publishes in flight when the broker dies, reconnects, and repeats nothing itself', async () => {
      const car = await makeCar().start();
      relay.hold();
      const lost = expect(car.link.publish(message('first'))).rejects.toMatchObject({ code: 'link.lost', where: up });
      await broker.kill();
      relay.cut();
      await lost;
      expect(await car.down()).not.toBe('');
      expect(car.link.connected).toBe(false);
      await expect(car.link.publish(message('too early'))).rejects.toMatchObject({ code: 'link.lost' });
      await broker.start();
      const observer = await observe(up);
      relay.release();
      await car.up();
      await car.link.publish(message('second'));
      await observer.seen.take(({ payload }) => payload === 'second');
      expect(observer.seen.all.map(({ payload }) => payload)).toEqual(['second']);
    });

    it('rejects publishes that wait for a slot as well', async () => {
      const car = await makeCar({ window: 2 }).start();
      relay.hold();
      const all = Array.from({ length: 6 }, (_, i) => car.link.publish(message(`${i}`)));
      relay.cut();
      const results = await Promise.allSettled(all);
      expect(results.map((result) => (result.status === 'rejected' ? result.reason.code : 'resolved'))).toEqual(
        all.map(() => 'link.lost'),
      );
    });

    it('connects when the broker starts later', async () => {
      await broker.kill();
      const car = makeCar();
      car.open();
      await car.log.take(({ event }) => event === 'link.unreachable');
      await broker.start();
      await car.up();
    });

    it('tries the next address when one is dead', async () => {
      const dead = await Relay.open(1);
      const url = dead.url;
      await dead.close();
      const car = new Car([url, relay.url], { protocol: contract.protocol, closeTimeout: 300 });
      cars.push(car);
      await car.start();
      expect(car.link.protocol).toBe(contract.spoken);
    });

    it('publishes presence: online, the will after a cut, online again', async () => {
      const observer = await observe(presence);
      const will = { topic: presence, online: bytes('online'), offline: bytes('offline'), willDelay: 0 };
      const car = await makeCar({ presence: will, backoff: { first: 2000, longest: 2000 }, random: () => 0.5 }).start();
      expect((await observer.seen.take()).payload).toBe('online');
      relay.cut();
      expect((await observer.seen.take()).payload).toBe('offline');
      await car.up();
      expect((await observer.seen.take()).payload).toBe('online');
    });

    it('publishes asleep while the unit sleeps, online when it wakes, and the current state after each connection', async () => {
      const observer = await observe(presence);
      const rest = new UnitRest();
      const car = await makeCar({ rest, keepalive: 20, asleepKeepalive: 600 }).start();
      expect((await observer.seen.take()).payload).toBe('online');
      expect(car.link.health().keepalive).toBe(20);
      rest.set(true);
      const asleep = await observer.seen.take();
      expect(asleep.payload).toBe('asleep');
      expect(car.link.health().keepalive).toBe(600);
      const late = await observe(presence);
      const kept = await late.seen.take();
      expect([kept.payload, kept.packet.retain]).toEqual(['asleep', true]);
      relay.cut();
      await car.up();
      expect((await observer.seen.take(({ payload }) => payload !== 'offline')).payload).toBe('asleep');
      rest.set(false);
      expect((await observer.seen.take()).payload).toBe('online');
      await car.link.close();
      expect((await observer.seen.take()).payload).toBe('offline');
      // A closed link is not notified any more.
      rest.set(true);
      expect(car.link.connected).toBe(false);
    });

    it('publishes a retained offline or asleep when closed, and can be opened again', async () => {
      const observer = await observe(presence);
      const car = await makeCar().start();
      expect((await observer.seen.take()).payload).toBe('online');
      await car.link.close('asleep');
      expect((await observer.seen.take()).payload).toBe('asleep');
      expect(car.link.connected).toBe(false);
      await car.start();
      expect((await observer.seen.take()).payload).toBe('online');
      await Promise.all([car.link.close(), car.link.close()]);
      expect((await observer.seen.take()).payload).toBe('offline');
      const late = await observe(presence);
      const { payload, packet } = await late.seen.take();
      expect([payload, packet.retain]).toEqual(['offline', true]);
      expect(observer.seen.all.length).toBe(4);
    });

    it('receives what was sent while the car was away, even if the broker restarted meanwhile', async () => {
      const car = await makeCar().start();
      await car.link.close();
      await (await observe()).send(down, 'lock');
      await broker.stop();
      await broker.start();
      // Another process of the same car.
      const again = await makeCar().start();
      if (again.messages().length === 0) await again.message();
      expect(again.messages()).toEqual(['lock']);
    });

    it('leaves messages that arrive while it closes to the broker, and gets them next time', async () => {
      const observer = await observe();
      const car = await makeCar({ closeTimeout: 10_000 }).start();
      relay.hold();
      await observer.send(down, 'lock');
      const closed = car.link.close();
      relay.release();
      await closed;
      expect(car.messages()).toEqual([]);
      await car.start();
      if (car.messages().length === 0) await car.message();
      expect(car.messages()).toEqual(['lock']);
    });

    it('receives what was sent while the network was down', async () => {
      const observer = await observe();
      const car = await makeCar({ keepalive: 1 }).start();
      relay.hold();
      await car.down();
      await observer.send(down, 'lock');
      relay.cut();
      relay.release();
      expect(await car.message()).toMatchObject({ payload: 'lock' });
    });

    it('detects a half-open connection by keepalive', async () => {
      const car = await makeCar({ keepalive: 1 }).start();
      relay.hold();
      const inFlight = car.link.publish(message('into the void'));
      const reason = car.down();
      await expect(inFlight).rejects.toMatchObject({ code: 'link.lost' });
      expect(await reason).toMatch(/keepalive/i);
    });

    it.each([2_000, 70_000, 1_000_000])('rejects a packet of %d bytes and receives the next one', async (size) => {
      const observer = await observe();
      const car = await makeCar({ maximumPacket: 1024 }).start();
      await observer.send(down, 'before');
      await car.message();
      await observer.send(down, Buffer.alloc(size));
      await observer.send(down, 'after');
      await car.message('after');
      relay.cut();
      await car.up();
      await observer.send(down, 'much later');
      await car.message('much later');
      // QoS 1 may repeat messages after a cut. A rejected packet is never repeated.
      expect([...new Set(car.messages())]).toEqual(['before', 'after', 'much later']);
    });

    it('transfers correlation, expiry and content type with MQTT 5', async () => {
      const observer = await observe(up);
      const car = await makeCar().start();
      await observer.send(down, 'lock', 'c-1');
      const five = contract.spoken === 5;
      expect(await car.message()).toEqual({
        kind: 'message',
        topic: down,
        payload: 'lock',
        ...(five ? { correlation: 'c-1' } : {}),
      });
      await car.link.publish(message('done', { correlation: bytes('c-1'), expiry: 60 }));
      const { packet } = await observer.seen.take();
      const { correlationData, contentType, messageExpiryInterval } = packet.properties ?? {};
      expect([correlationData?.toString(), contentType, messageExpiryInterval]).toEqual(
        five ? ['c-1', 'application/cbor', 60] : [undefined, undefined, undefined],
      );
    });

    it('completes 20 simultaneous publishes although the broker accepts fewer at a time', async () => {
      const observer = await observe(up);
      const car = await makeCar().start();
      expect(car.link.window).toBe(contract.spoken === 5 ? (contract.receiveMaximum ?? 20) : 20);
      for (let round = 0; round < 10; round++) {
        await Promise.all(Array.from({ length: 20 }, (_, i) => car.link.publish(message(`${round}.${i}`))));
      }
      await car.link.publish(message('last'));
      await observer.seen.take(({ payload }) => payload === 'last');
      const seen = observer.seen.all.map(({ payload }) => payload);
      expect(seen.length).toBe(201);
      expect(new Set(seen).size).toBe(201);
      expect(car.events.all.filter(({ kind }) => kind === 'down')).toEqual([]);
    });

    it('keeps running when a receiver in the core throws', async () => {
      const observer = await observe();
      const car = await makeCar().start();
      car.onMessage = () => {
        throw new Error('the core has a fault');
      };
      await observer.send(down, 'one');
      await observer.send(down, 'two');
      await car.message();
      await car.message();
      await car.link.publish(message('still here'));
      expect(car.messages()).toEqual(['one', 'two']);
      const { level, fields } = await car.log.take(({ event }) => event === 'link.handler');
      expect([level, fields]).toEqual(['error', { handler: 'message', reason: 'Error: the core has a fault' }]);
    });

    it('refuses an invalid topic and stays up', async () => {
      const car = await makeCar().start();
      for (const topic of ['', 'vigie/+/x', 'vigie/#', 'a\0b', 'x'.repeat(0x1_0000)]) {
        await expect(car.link.publish(message('x', { topic }))).rejects.toMatchObject({ code: 'message.malformed' });
      }
      await car.link.publish(message('still here'));
      expect(car.link.connected).toBe(true);
    });

    it('closes within a time limit if nothing is answered, and the broker publishes the will', async () => {
      const observer = await observe(presence);
      const will = { topic: presence, online: bytes('online'), offline: bytes('offline'), willDelay: 0 };
      const car = await makeCar({ presence: will }).start();
      await observer.seen.take(({ payload }) => payload === 'online');
      relay.hold();
      const inFlight = car.link.publish(message('into the void'));
      const lost = expect(inFlight).rejects.toMatchObject({ code: 'link.lost' });
      await car.link.close();
      await lost;
      expect(car.link.connected).toBe(false);
      relay.cut();
      expect((await observer.seen.take()).payload).toBe('offline');
    });

    it('can be closed while it is connecting', async () => {
      relay.hold();
      const car = makeCar();
      car.open();
      await car.link.close();
      relay.release();
      expect(car.events.all).toEqual([]);
      expect(car.link.connected).toBe(false);
    });
  });
}
