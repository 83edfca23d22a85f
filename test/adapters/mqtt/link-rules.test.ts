import { linkRules } from '../../contracts/link-rules.ts';
import { AedesRig } from '../../rig/aedes.ts';
import { Arrivals } from '../../rig/arrivals.ts';
import { Car, down, Observer, text, up } from '../../rig/car.ts';
import { Relay } from '../../rig/relay.ts';

linkRules('the link over the embedded broker', async ({ silence } = { silence: false }) => {
  const broker = new AedesRig();
  await broker.start();
  const relay = await Relay.open(broker.port);
  const log = new Arrivals<string>();
  const { link } = new Car(relay.url, { closeTimeout: 300, ...(silence ? { keepalive: 1 } : {}) });
  const observe = async (): Promise<Observer> => {
    const made = await Observer.connect(broker.url, 4, [up]);
    made.client.on('message', (_topic, payload) => log.push(`arrived ${text(payload)}`));
    return made;
  };
  let observer = await observe();
  return {
    link,
    log,
    wait: (settled) => settled,
    send: (payload) => observer.send(down, payload),
    hold: () => relay.hold(),
    cut() {
      relay.cut();
      relay.release();
    },
    async restartBroker() {
      relay.hold();
      await observer.close();
      await broker.stop();
      relay.cut();
      await broker.start();
      observer = await observe();
      relay.release();
    },
    async close() {
      relay.release();
      await link.close();
      await observer.close();
      await relay.close();
      await broker.remove();
    },
  };
});
