/** Hubs at external brokers while cars drive: a broker that restarts, and two hubs of which one is killed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { SqliteDatabase } from '../../hub/database/index.ts';
import { type Hub, startHub } from '../../hub/start/hub.ts';
import { TestClock } from '../commands/remote-car.ts';
import { DrivingCar } from '../hub/driving-car.ts';
import { groupSecretIn } from '../hub/hub-tokens.ts';
import { VigieProcess } from '../rig/bench.ts';
import type { BrokerRig } from '../rig/broker.ts';
import { MemoryLog } from '../rig/log.ts';
import { PostgresRig } from '../rig/postgres.ts';

interface StoredMessage {
  readonly class: number;
  readonly seq: number;
  readonly boot: number;
  readonly payload: Uint8Array;
}

const SELECT = 'SELECT class, seq, boot, payload FROM messages JOIN vehicles ON vehicles.id = vehicle WHERE vin';
const hex = (payload: Uint8Array): string => Buffer.from(payload).toString('hex');

async function storedIn(data: string, vin: string): Promise<readonly StoredMessage[]> {
  const database = await SqliteDatabase.open(join(data, 'hub.sqlite'));
  try {
    return database.all(`${SELECT} = ?`, vin) as unknown as readonly StoredMessage[];
  } finally {
    database.close();
  }
}

/** Waits until everything that the broker acknowledged to the car is stored exactly once. */
async function untilStored(car: DrivingCar, stored: () => Promise<readonly StoredMessage[]>): Promise<void> {
  const acknowledged = new Set(car.acknowledged.map(({ payload }) => hex(payload)));
  let kept = await stored();
  const lacks = (): boolean => {
    const payloads = new Set(kept.map(({ payload }) => hex(payload)));
    return [...acknowledged].some((payload) => !payloads.has(payload));
  };
  while (lacks()) kept = await car.during(stored());
  expect(kept.length).toBe(new Set(kept.map(({ class: priority, seq, boot }) => `${priority}/${seq}/${boot}`)).size);
  expect(kept.length).toBe(new Set(kept.map(({ payload }) => hex(payload))).size);
}

export interface HubBrokerContract {
  readonly make: () => BrokerRig;
  /**
   * If set, the broker distributes the messages of a group among all its hubs. Otherwise one hub receives and the
   * others stand by.
   */
  readonly shares: boolean;
  /**
   * The broker keeps messages in memory only after it has acknowledged them to a car and before a hub receives them.
   */
  readonly losesWaiting?: true;
  /** Ends the broker permanently. */
  readonly destroy?: (broker: BrokerRig) => Promise<void>;
}

export function hubBrokerContract(name: string, { make, shares, losesWaiting, destroy }: HubBrokerContract): void {
  describe(`hubs at ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-brokers-'));
    const server = new PostgresRig();
    const begun: VigieProcess[] = [];
    let broker: BrokerRig;

    beforeAll(async () => {
      broker = make();
      await Promise.all([broker.start(), server.start()]);
      // RabbitMQ refuses clients until its client registry has elected a leader.
      for (let accepted = false; !accepted; ) {
        try {
          await (await CloudClient.connect(broker.url)).close();
          accepted = true;
        } catch (error) {
          expect(error).toMatchObject({ code: 'link.refused' });
        }
      }
    });

    afterAll(async () => {
      for (const hub of begun) await hub.end('SIGKILL');
      await server.remove();
      await (destroy ?? ((one: BrokerRig) => one.remove()))(broker);
      rmSync(folder, { recursive: true, force: true });
    });

    test('a hub receives what cars sent while it was away, and its commands reach a car', async () => {
      const data = join(folder, 'restarted');
      const log = new MemoryLog();
      const start = (): Promise<Hub> =>
        startHub({
          data,
          broker: { address: { url: broker.url }, group: 'restarted', receiveMaximum: 100 },
          port: 0,
          http: 0,
          clock: new SystemClock(),
          log,
        });
      let hub = await start();
      const driving = new DrivingCar({ vin: 'VF3VGEHVBX0000001', url: broker.url });
      const parked = new DrivingCar({
        vin: 'VF3VGEHVBX0000002',
        url: broker.url,
        scenario: 'parked',
        trust: hub.trust,
        machineTime: true,
      });
      try {
        await Promise.all([driving.start(), parked.start()]);
        await driving.until(() => driving.acknowledged.some(({ message }) => message.kind === 'trip'));
        await driving.during(hub.stop());
        const before = driving.acknowledged.length;
        await driving.untilTrip();
        await driving.stop();
        expect(driving.acknowledged.length).toBeGreaterThan(before);
        hub = await start();
        await untilStored(driving, () => storedIn(data, driving.vin));

        await parked.until(() => parked.acknowledged.some(({ message }) => message.kind === 'status'));
        const remotes = `${hub.interface.url}/vigie/v1/vehicles/${parked.vin}/remotes`;
        const ask = (): Promise<Response> =>
          fetch(remotes, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ door: { state: 'Locked' } }),
          });
        let given = await parked.during(ask());
        // The first message of the car may not be on disk yet.
        while (given.status === 404) given = await parked.during(ask());
        expect(given.status).toBe(202);
        const { remoteActionId } = (await given.json()) as { remoteActionId: string };
        const state = async (): Promise<string> =>
          ((await (await fetch(`${remotes}/${remoteActionId}`)).json()) as { status: string }).status;
        while ((await parked.during(state())) !== 'Success');
      } finally {
        await driving.remove();
        await parked.remove();
        await hub.stop();
      }
    });

    test('if a broker is killed while a car drives, the car resends what was lost and nothing is stored twice', {
      timeout: 540_000,
    }, async () => {
      const data = join(folder, 'broker-killed');
      // Hub and car share simulated time: the hub requests missing messages after minutes.
      const clock = new TestClock();
      const start = (): Promise<Hub> =>
        startHub({
          data,
          broker: { address: { url: broker.url }, group: 'broker-killed', receiveMaximum: 100 },
          port: 0,
          http: 0,
          clock,
          log: new MemoryLog(),
        });
      let hub = await start();
      const car = new DrivingCar({ vin: 'VF3VGEHVBX0000003', url: broker.url, trust: hub.trust, clock });
      const more = async (count: number): Promise<void> => {
        const before = car.acknowledged.length;
        await car.until(() => car.acknowledged.length > before + count);
      };
      try {
        await car.start();
        await car.until(() => car.acknowledged.some(({ message }) => message.kind === 'trip'));
        await car.during(broker.kill());
        await car.during(broker.start());
        await more(10);
        if (losesWaiting) {
          await car.during(hub.stop());
          await more(10);
          await car.during(broker.kill());
          await car.during(broker.start());
          hub = await car.during(start());
        }
        // The hub learns of lost messages when the car sends the next message of their class.
        await untilStored(car, () => storedIn(data, car.vin));
        const numbers = `${hub.interface.url}/vigie/v1/vehicles/${car.vin}/numbers`;
        const classes = async (): Promise<readonly { missing: unknown[]; givenUp: unknown[] }[]> =>
          ((await (await car.during(fetch(numbers))).json()) as { classes: [] }).classes;
        while ((await classes()).some(({ missing }) => missing.length > 0));
        expect((await classes()).flatMap(({ givenUp }) => givenUp)).toEqual([]);
      } finally {
        await car.remove();
        await hub.stop();
      }
    });

    // The broker knows hubs of a sharing group only by their names.
    if (!shares) {
      test('of two hubs of a group on different databases the newer one receives, and the other stops with the reason', async () => {
        const log = new MemoryLog();
        const start = (name: string): Promise<Hub> =>
          startHub({
            data: join(folder, name),
            broker: { address: { url: broker.url }, group: 'apart', receiveMaximum: 100 },
            name,
            port: 0,
            http: 0,
            clock: new SystemClock(),
            log,
          });
        const first = await start('apart-1');
        const second = await start('apart-2');
        try {
          expect(await first.displaced).toMatchObject({
            code: 'usage.wrong',
            message: expect.stringContaining('another hub, on another database, receives for the group apart'),
          });
        } finally {
          await first.stop();
          await second.stop();
        }
      });
    }

    test('hubs of two groups on different databases at one broker each receive everything', async () => {
      const start = (group: string): Promise<Hub> =>
        startHub({
          data: join(folder, group),
          broker: { address: { url: broker.url }, group, receiveMaximum: 100 },
          name: 'only',
          port: 0,
          http: 0,
          clock: new SystemClock(),
          log: new MemoryLog(),
        });
      const hubs = [await start('north'), await start('south')];
      const car = new DrivingCar({ vin: 'VF3VGEHVBX0000009', url: broker.url });
      try {
        await car.start();
        await car.untilTrip();
        await car.stop();
        for (const group of ['north', 'south']) await untilStored(car, () => storedIn(join(folder, group), car.vin));
      } finally {
        await car.remove();
        for (const hub of hubs) await hub.stop();
      }
    });

    interface RunningHub {
      readonly process: VigieProcess;
      readonly url: string;
    }

    const secretFile = groupSecretIn(folder);

    async function startProcess(hub: string, database: string): Promise<RunningHub> {
      const own = join(folder, hub);
      mkdirSync(own, { recursive: true });
      const file = join(own, 'hub.yaml');
      writeFileSync(
        file,
        `hub: 1
name: ${hub}
data: data
broker: { url: '${broker.url}', group: several }
database: { url: '${database}', secretFile: '${secretFile}' }
http: { listen: '127.0.0.1:0' }
log: { level: info }
`,
      );
      const process = new VigieProcess(['hub', '-c', file]);
      begun.push(process);
      await process.says('Ctrl-C ends');
      return { process, url: /http:\/\/127\.0\.0\.1:\d+/.exec(process.output)?.[0] ?? '' };
    }

    test('if one of two hubs on one database is killed while cars drive, nothing is lost or stored twice', async () => {
      const database = await server.create();
      const first = await startProcess('one', database);
      const second = await startProcess('two', database);
      const cars = await Promise.all(
        [1, 2, 3].map((number) => new DrivingCar({ vin: `VF3VGEHVBY000000${number}`, url: broker.url }).start()),
      );
      try {
        await Promise.all(
          cars.map((car) => car.until(() => car.acknowledged.some(({ message }) => message.kind === 'trip'))),
        );
        await Promise.all([first.process.end('SIGKILL'), ...cars.map((car) => car.untilTrip())]);
        // The broker queues a sharing group's messages per member name. A group that takes turns has a single session.
        if (shares) await Promise.all([startProcess('one', database), ...cars.map((car) => car.untilTrip(1))]);
        else await second.process.says('hub.receiving');
        for (const car of cars) await car.stop();
        for (const car of cars) {
          await untilStored(car, async () => {
            const rows = await server.execute(database, `${SELECT} = '${car.vin}'`);
            return rows.map((row) => ({ ...row, payload: row['payload'] as Buffer })) as unknown as StoredMessage[];
          });
        }
        const vehicles = (await (await fetch(`${second.url}/fleets/local/vehicles`)).json()) as {
          _embedded: { vehicles: { vin: string }[] };
        };
        expect(vehicles._embedded.vehicles.map(({ vin }) => vin)).toEqual(
          expect.arrayContaining(cars.map(({ vin }) => vin)),
        );
      } finally {
        for (const car of cars) await car.remove();
      }
    });
  });
}
