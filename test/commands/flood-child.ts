/**
 * A car under a flood, run with --expose-gc: floods it twice, the first time as a warm-up. Prints its memory, the
 * actions of the car, and whether it still serves. Arguments: seconds of a flood, messages per second, seed.
 */
import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { downTopic } from '../../protocol/topics.ts';
import { junk } from './junk.ts';
import { MaliciousBroker } from './malicious-broker.ts';
import { makeKeys, RemoteCar } from './remote-car.ts';

const [seconds = 1, rate = 10_000, seed = 1] = process.argv.slice(2).map(Number);
/** Number of writes per second. */
const SLICES = 100;
const gc = globalThis.gc as () => void;

const broker = await MaliciousBroker.open();
const keys = await makeKeys();
const car = await RemoteCar.start({ url: broker.url, keys, cloud: broker, protocol: 4 });
car.simulation.inject({ keyPresent: false });
const genuine = await Promise.all(
  [1, 2, 3].map(async () => (await car.sign('Doors', { state: 'Locked' }, { key: 'but-Doors' }))[1]),
);
const pieces = junk(car.vin, genuine, seed);

const flood = async (): Promise<number> => {
  let flooding = true;
  const time = (async () => {
    while (flooding) await car.pass(20);
  })();
  let sent = 0;
  const begun = performance.now();
  for (let slice = 1; slice <= seconds * SLICES; slice++) {
    for (let i = 0; i < rate / SLICES; i++, sent++) {
      const { topic, payload, qos } = pieces.next().value;
      await broker.hand(topic, payload, qos);
    }
    const ahead = (slice * 1000) / SLICES - (performance.now() - begun);
    if (ahead > 0) await setTimeout(ahead);
  }
  // All messages have arrived once a later one has been acknowledged.
  await broker.publish(downTopic(car.vin, 'ack'), new Uint8Array(0));
  flooding = false;
  await time;
  return sent;
};

const held = async (): Promise<number> => {
  car.log.lines.length = 0;
  car.messages.length = 0;
  await car.pass(2_000);
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

await flood();
const before = await held();
const sent = await flood();
const remotes = car.messages.filter(({ kind }) => kind === 'remote').length;
const { accepted } = car.simulation.commands;
const after = await held();
// The car serves again after a second of its time.
await car.pass(1_000);
const states = await car.order('Doors', { state: 'Locked' });
const result = { before, after, sent, remotes, accepted, states, connections: broker.connections };
await car.close();
await broker.close();
rmSync(keys, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(result)}\n`);
