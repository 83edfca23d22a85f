/** A fleet at a broker: connects, drives, and counts what came of every number. */
import { setTimeout as until } from 'node:timers/promises';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { upFilter } from '../../protocol/topics.ts';
import { type Cost, costOf } from './cost.ts';
import { type Departure, recordDrive, silent } from './drive.ts';
import { LightCar } from './light-car.ts';

export interface FleetOptions {
  readonly url: string;
  /** Process group of the broker. */
  readonly group: number;
  readonly cars: number;
  /** Minutes of car time that each drives. */
  readonly minutes: number;
  /** Car time to time. */
  readonly speed: number;
  /** Cars that connect at a time. */
  readonly ramp?: number;
  /** Told every few seconds. */
  readonly progress?: (text: string) => void;
}

export interface FleetReport {
  readonly connectedIn: number;
  readonly before: Cost;
  /** When all are connected and nothing is published. */
  readonly connected: Cost;
  readonly after: Cost;
  /** s from the first publish to the last acknowledgement. */
  readonly took: number;
  readonly published: number;
  readonly acknowledged: number;
  readonly acknowledgedBytes: number;
  readonly repeated: number;
  /** Of MQTT, both ways, acknowledgements and all. */
  readonly bytes: number;
  /** Different messages that the receiver got, deliveries of one it had, and numbers that never came. */
  readonly received: number;
  readonly duplicates: number;
  readonly lost: number;
}

/**
 * What came of every message of every car. All cars drive the same drive, so a message is known by its bytes, in which
 * its number is.
 */
class Receiver {
  received = 0;
  duplicates = 0;
  readonly #places: ReadonlyMap<string, number>;
  readonly #seen = new Map<string, Uint8Array>();

  constructor(drive: readonly Departure[]) {
    this.#places = new Map(drive.map(({ payload }, place) => [textOf(payload), place]));
    if (this.#places.size !== drive.length) throw new Error('two messages of the drive are the same');
  }

  take(topic: string, payload: Uint8Array): void {
    const place = this.#places.get(textOf(payload));
    if (place === undefined) throw new Error(`${topic}: nobody sent this`);
    const vin = topic.split('/')[2] ?? '';
    const seen = this.#seen.get(vin) ?? new Uint8Array(this.#places.size);
    this.#seen.set(vin, seen);
    if (seen[place] === 1) this.duplicates++;
    else this.received++;
    seen[place] = 1;
  }
}

function textOf(payload: Uint8Array): string {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('latin1');
}

/** Runs the fleet to the end of its drive. Rejects when the broker does not take a car within a minute. */
export async function runFleet(options: FleetOptions): Promise<FleetReport> {
  const { url, group, cars: count, minutes, speed, ramp = 50 } = options;
  const drive = await recordDrive(minutes);
  const receiver = new Receiver(drive);
  const cloud = await CloudClient.connect(url, { clientId: 'fleet-receiver' });
  await cloud.subscribe(upFilter(), (topic, payload) => receiver.take(topic, payload));
  const before = costOf(group);

  const began = performance.now();
  const cars: LightCar[] = [];
  const sum = (of: (car: LightCar) => number): number => cars.reduce((total, car) => total + of(car), 0);
  const telling = setInterval(() => {
    const up = cars.filter(({ link }) => link.connected).length;
    const acknowledged = sum((car) => car.acknowledged);
    options.progress?.(`${up} connected, ${acknowledged} acknowledged, ${receiver.received} received`);
  }, 5000);
  while (cars.length < count) {
    const some = Array.from({ length: Math.min(ramp, count - cars.length) }, (_, i) => {
      return new LightCar(cars.length + i, url, silent);
    });
    cars.push(...some);
    await Promise.all(some.map((car) => car.open()));
  }
  const connectedIn = (performance.now() - began) / 1000;
  const connected = costOf(group);

  const start = performance.now();
  await Promise.all(cars.map((car, i) => follow(car, drive, start + (i / count) * (60_000 / speed), speed)));
  const took = (performance.now() - start) / 1000;
  const published = count * drive.length;
  // What the broker acknowledged is on its way to the receiver; a quiet second is its end.
  for (let before = -1; receiver.received < published && before !== receiver.received; ) {
    before = receiver.received;
    await until(1000);
  }
  const after = costOf(group);
  for (let i = 0; i < cars.length; i += ramp) {
    await Promise.all(cars.slice(i, i + ramp).map((car) => car.link.close()));
  }
  await cloud.close();
  clearInterval(telling);
  const bytesOf = ({ link }: LightCar): number => {
    const { sentBytes, receivedBytes } = link.health().counts;
    return sentBytes + receivedBytes;
  };
  return {
    connectedIn,
    before,
    connected,
    after,
    took,
    published,
    acknowledged: sum((car) => car.acknowledged),
    acknowledgedBytes: sum((car) => car.acknowledgedBytes),
    bytes: sum(bytesOf),
    repeated: sum((car) => car.repeated),
    received: receiver.received,
    duplicates: receiver.duplicates,
    lost: published - receiver.received,
  };
}

/** Publishes the drive as it was published, from `start` on (performance.now()). */
async function follow(car: LightCar, drive: readonly Departure[], start: number, speed: number): Promise<void> {
  const underWay: Promise<void>[] = [];
  for (const departure of drive) {
    const wait = start + departure.after / speed - performance.now();
    if (wait > 0) await until(wait);
    underWay.push(car.publish(departure));
  }
  await Promise.all(underWay);
}
