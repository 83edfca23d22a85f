import { linkRules } from '../contracts/link-rules.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { bytes, down, text } from '../rig/car.ts';
import { Broker, WorldLink } from './broker.ts';
import { Chance } from './chance.ts';
import { WorldTime } from './time.ts';

const VIN = 'VF3VGEWRLD0000001';

for (const embedded of [true, false]) {
  const kind = embedded ? 'part of the hub' : 'of its own';
  linkRules(`the model of a link over the model of a broker ${kind}`, async () => {
    const time = new WorldTime();
    const log = new Arrivals<string>();
    let alive = true;
    const broker = new Broker({
      time,
      chance: new Chance('broker'),
      embedded,
      deliver: async (_topic, payload) => log.push(`arrived ${text(payload)}`),
      subscribed: () => undefined,
    });
    const network = { dark: false, lag: 0 };
    const link = new WorldLink({
      vin: VIN,
      time,
      chance: new Chance('link'),
      network,
      broker,
      alive: () => alive,
    });
    return {
      link,
      log,
      async wait(settled) {
        let done = false;
        const end = (): void => {
          done = true;
        };
        settled.then(end, end);
        while (!done) {
          await new Promise<void>((resolve) => setImmediate(resolve));
          if (!done && !time.step(time.now + 600_000)) throw new Error('nothing happens any more');
        }
        return settled;
      },
      send: async (payload) => broker.send(VIN, down, bytes(payload)),
      hold: () => link.connection?.freeze(),
      cut: () => link.connection?.end('cut', false),
      async restartBroker() {
        broker.stop('nothing');
        broker.start();
      },
      async close() {
        alive = false;
      },
    };
  });
}
