/** Situations that need a broker in a separate process. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bytes, Car, message, Observer, presence, up } from '../../rig/car.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { describePeer } from '../../rig/peers.ts';

describePeer('mosquitto', 'a link to Mosquitto', () => {
  let broker: MosquittoRig;
  let car: Car;

  beforeEach(async () => {
    broker = new MosquittoRig({ settings: ['max_packet_size 2000'] });
    await broker.start();
    const will = { topic: presence, online: bytes('online'), offline: bytes('offline'), willDelay: 0 };
    car = await new Car(broker.url, { closeTimeout: 200, presence: will }).start();
  });

  afterEach(async () => {
    broker.resume();
    await car.link.close();
    await broker.remove();
  });

  it('closes within its time limit while the broker process is suspended', async () => {
    const observer = await Observer.connect(broker.url, 5, [presence]);
    expect((await observer.seen.take()).payload).toBe('online');
    broker.hang();
    const lost = expect(car.link.publish(message('x'))).rejects.toMatchObject({ code: 'link.lost' });
    await car.link.close();
    await lost;
    broker.resume();
    expect((await observer.seen.take()).payload).toBe('offline');
    await observer.close();
  });

  it('rejects messages in flight when the broker is killed', async () => {
    broker.hang();
    const lost = expect(car.link.publish(message('x'))).rejects.toMatchObject({ code: 'link.lost', where: up });
    await broker.kill();
    await lost;
    await car.down();
    await broker.start();
    await car.up();
    await car.link.publish(message('back'));
  });

  it('does not send messages larger than the broker accepts, and stays connected', async () => {
    const large = { topic: up, payload: new Uint8Array(2000), retain: false };
    await expect(car.link.publish(large)).rejects.toMatchObject({
      code: 'link.refused',
      message: expect.stringContaining('up to 2000 bytes'),
    });
    // The largest accepted message must also fit with every property and a topic alias.
    let largest = 0;
    for (let size = 2000; size > 1800 && largest === 0; size--) {
      const one = { ...large, payload: new Uint8Array(size), expiry: 9, correlation: bytes('c-1') };
      const taken = await car.link.publish(one).then(
        () => true,
        (error: { code: string; message: string }) => {
          expect(error.message).toContain('up to 2000 bytes');
          return false;
        },
      );
      if (taken) largest = size;
    }
    expect(largest).toBeGreaterThan(1850);
    expect(car.events.all).toEqual([{ kind: 'up' }]);
  });
});
