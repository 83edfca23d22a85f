/**
 * `npm run fleet-sim [N]`: N light cars (default 2000) publish a recorded drive of the simulated car, real batches in
 * real messages, over N real connections to a real broker on the loopback. Prints what each connection and each
 * message cost the broker, and what came of every number; fails when one is lost.
 *
 *     npm run fleet-sim 2000 -- --broker nats --minutes 3 --speed 6
 */
import { MosquittoRig } from '../../test/rig/mosquitto.ts';
import { NatsRig } from '../../test/rig/nats.ts';
import { RabbitRig } from '../../test/rig/rabbitmq.ts';
import { runFleet } from './fleet.ts';
import type { RunnableScenario } from './scenario.ts';

const brokers = {
  // Its own bounds are for one client; the receiver of a fleet gets what all cars send.
  mosquitto: () => new MosquittoRig({ settings: ['max_queued_messages 0', 'max_inflight_messages 1000'] }),
  nats: () => new NatsRig(),
  rabbitmq: () => new RabbitRig({ clientIds: [], retained: [] }),
};
export const fleetSim: RunnableScenario<{
  readonly cars: number;
  readonly broker: string;
  readonly minutes: number;
  readonly speed: number;
}> = {
  options: { cars: 2000, broker: 'mosquitto', minutes: 3, speed: 6 },
  argument: 'cars',
  async run({ cars, broker: name, minutes, speed }) {
    const make = (brokers as Readonly<Record<string, (typeof brokers)[keyof typeof brokers]>>)[name];
    if (make === undefined) return [`no broker ${name}; there are ${Object.keys(brokers).join(', ')}`];
    if (!Number.isInteger(cars) || cars >= 1e6) return [`${cars} is no number of cars below a million`];
    const broker = make();
    await broker.start();
    console.log(`${name}: ${cars} cars, ${minutes} minutes of car time at ${speed}×`);
    const report = await runFleet({
      url: broker.url,
      group: broker.pid,
      cars,
      minutes,
      speed,
      progress: console.error,
    });
    await (broker instanceof RabbitRig ? broker.destroy() : broker.remove());

    const { before, connected, after, took, acknowledged } = report;
    const figure = (value: number, digits = 1): string => value.toLocaleString('en', { maximumFractionDigits: digits });
    const rows: readonly (readonly [string, string])[] = [
      ['connected in', `${figure(report.connectedIn)} s (${figure(cars / report.connectedIn, 0)} a second)`],
      ['memory of the broker, alone', `${figure(before.resident / 2 ** 20)} MiB`],
      ['memory a connection', `${figure((connected.resident - before.resident) / cars / 1024)} KiB`],
      ['memory a car after its drive', `${figure((after.resident - before.resident) / cars / 1024)} KiB`],
      ['CPU a connection', `${figure(((connected.cpu - before.cpu) / cars) * 1000, 2)} ms`],
      ['CPU a message', `${figure(((after.cpu - connected.cpu) / acknowledged) * 1e6, 0)} µs`],
      ['load of the broker', `${figure(((after.cpu - connected.cpu) / took) * 100)} % of a core`],
      ['messages', `${figure(acknowledged / took, 0)} a second for ${figure(took)} s`],
      ['payload', `${figure(report.acknowledgedBytes / acknowledged, 0)} bytes a message`],
      ['bytes of MQTT, both ways', `${figure(report.bytes / acknowledged, 0)} a message`],
      ['published', figure(report.published)],
      ['acknowledged', `${figure(acknowledged)} (${figure(report.repeated)} made again)`],
      ['received', `${figure(report.received)} and ${figure(report.duplicates)} twice`],
      ['lost', figure(report.lost)],
    ];
    for (const [name, value] of rows) console.log(`  ${name.padEnd(30)} ${value}`);
    return report.lost > 0 || acknowledged !== report.published ? ['messages were lost'] : [];
  },
};
