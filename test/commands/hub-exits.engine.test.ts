/** `exits.influx` of hub.yaml: hubs and a real InfluxDB, of which one or the other is killed. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SystemClock } from '../../adapters/clock/system.ts';
import { type HubDatabase, onPostgres, onSqlite } from '../../hub/start/database.ts';
import { shownValue } from '../../protocol/interface/json/shown-value.ts';
import { type Reading, readingsFromTelemetry, telemetryFromReadings } from '../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath } from '../../protocol/slots.ts';
import { upTopic } from '../../protocol/topics.ts';
import { NOON, ONE, OTHER, payloadOf } from '../hub/messages.ts';
import { VigieProcess } from '../rig/bench.ts';
import { withFreePorts } from '../rig/daemon.ts';
import { InfluxRig } from '../rig/influx.ts';
import { InfluxRelay, readingsIn, requestFaults } from '../rig/influx-relay.ts';
import { MemoryLog } from '../rig/log.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { describePeer, describePeers } from '../rig/peers.ts';
import { PostgresRig } from '../rig/postgres.ts';

const slot = (path: string): Slot => slotByPath.get(path) as Slot;
const speed = slot('kinetic.speed');

/** Readings of one message: two values in one ms, a name, and a position. */
const readingsOf = (at: number): Reading[] => [
  { slot: speed, value: at % 100, at },
  { slot: speed, value: (at % 100) + 1, at },
  { slot: slot('energies.Electric.extension.electric.charging.status'), value: 'InProgress', at },
  { slot: slot('lastPosition.latitude'), value: 48.5, at: at + 1 },
];

class Hubs {
  readonly folder = mkdtempSync(join(tmpdir(), 'vigie-hub-exits-'));
  readonly influx = new InfluxRig();
  readonly relay = new InfluxRelay(this.influx, () => this.#kill());
  readonly #names: readonly string[];
  readonly #running = new Map<string, VigieProcess>();
  #killed: string | undefined;
  #client: MqttClient | undefined;
  #sent = 0;

  /** `names`: one name for each hub. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** `contents`: lines of hub.yaml. Cars connect to `broker`. */
  async start(contents: string, broker: string): Promise<void> {
    await this.influx.start();
    await this.influx.query('CREATE DATABASE fleet');
    await this.relay.start();
    const [first = '', ...others] = this.#names;
    for (const name of this.#names) {
      const file = `hub: 1
name: ${name}
data: ${join(this.folder, name)}
http: { listen: 127.0.0.1:0 }
exits: { influx: { url: '${this.relay.url}', database: fleet } }
log: { level: info }
${contents}`;
      writeFileSync(join(this.folder, `${name}.yaml`), file);
      await this.#run(name);
      // Hubs on one database share the secret that encrypts its keys.
      if (name !== first) continue;
      for (const other of others) {
        const [from, to] = [first, other].map((one) => join(this.folder, one, 'keys', 'group.secret'));
        cpSync(from ?? '', to ?? '');
      }
    }
    this.#client = await connectAsync(broker, { reconnectPeriod: 100 });
  }

  /** Sends a message of each car: newer readings, and readings of a drive without network. Resolves when both are stored. */
  async drive(): Promise<void> {
    const seq = this.#sent++;
    const late = seq % 2 === 0 ? 0 : 86_400_000;
    await Promise.all(
      [ONE, OTHER].map((vin, car) => {
        const body = telemetryFromReadings(readingsOf(NOON + seq * 1_000 + car - late));
        return this.#client?.publishAsync(
          upTopic(vin, 'telemetry'),
          Buffer.from(payloadOf('telemetry', body, { seq })),
          {
            qos: 1,
          },
        );
      }),
    );
  }

  /** Resolves when a request to InfluxDB had this fault, and the killed program runs again. */
  async suffer(fault: (typeof requestFaults)[number]): Promise<void> {
    const suffered = this.relay.suffer(fault);
    await Promise.all([suffered, this.drive()].slice(0, fault === 'sender killed before' ? 1 : 2));
    if (this.#killed !== undefined) await this.#run(this.#killed);
    this.#killed = undefined;
  }

  /** Resolves when InfluxDB has `count` readings. */
  async until(count: number): Promise<readonly string[]> {
    for (;;) {
      const passed = this.relay.passed();
      const found = await readingsIn(this.influx, 'fleet');
      if (found.length >= count) return found.map(({ vin, text }) => `${vin} ${text}`).sort();
      await passed;
    }
  }

  get sent(): number {
    return this.#sent * 2 * readingsOf(0).length;
  }

  async stop(): Promise<void> {
    await this.#client?.endAsync();
    await Promise.all([...this.#running.values()].map((hub) => hub.end('SIGTERM')));
  }

  async remove(): Promise<void> {
    await this.#client?.endAsync(true);
    await Promise.all([...this.#running.values()].map((hub) => hub.end('SIGKILL')));
    this.relay.close();
    await this.influx.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #run(name: string): Promise<void> {
    const hub = new VigieProcess(['hub', '-c', join(this.folder, `${name}.yaml`)]);
    this.#running.set(name, hub);
    await hub.says('Ctrl-C ends');
  }

  /** Kills the hub that runs the exit, so that the other one takes it. */
  async #kill(): Promise<void> {
    const [name, hub] = [...this.#running].find(([, { output }]) => output.includes('exit.started')) ?? [];
    this.#killed = name;
    if (name !== undefined) this.#running.delete(name);
    await hub?.end('SIGKILL');
  }
}

/** Returns all readings that the hub has stored. */
async function storedIn(hub: HubDatabase): Promise<readonly string[]> {
  const found: string[] = [];
  for (const vin of [ONE, OTHER]) {
    for await (const { record } of hub.reader.records(vin, 'telemetry')) {
      for (const { slot: one, at, value } of readingsFromTelemetry(record as never)) {
        found.push(`${vin} ${one.path} ${at} ${String(shownValue(one, value))}`);
      }
    }
  }
  await hub.close();
  return found.sort();
}

async function expectEachOnce(hubs: Hubs, open: () => Promise<HubDatabase>): Promise<void> {
  await hubs.drive();
  for (const fault of requestFaults) await hubs.suffer(fault);
  await hubs.drive();
  const influx = await hubs.until(hubs.sent);
  await hubs.stop();
  expect(influx).toEqual(await storedIn(await open()));
  expect(influx).toHaveLength(hubs.sent);
}

describePeer('influxd', 'a hub on SQLite with an InfluxDB', () => {
  const hubs = new Hubs(['one']);
  beforeAll(
    () =>
      withFreePorts(1, ([port]) => hubs.start(`broker: { listen: 127.0.0.1:${port} }\n`, `mqtt://127.0.0.1:${port}`)),
    60_000,
  );
  afterAll(() => hubs.remove());

  test('InfluxDB has each reading of all cars once, after kills of both at any point of a request', async () => {
    await expectEachOnce(hubs, () => onSqlite(join(hubs.folder, 'one', 'hub.sqlite'), 100, new MemoryLog()));
  }, 300_000);
});

describePeers(['influxd', 'initdb', 'mosquitto'], 'two hubs on PostgreSQL with an InfluxDB', () => {
  const hubs = new Hubs(['one', 'two']);
  const [broker, server] = [new MosquittoRig(), new PostgresRig()];
  let database = '';
  beforeAll(async () => {
    await Promise.all([broker.start(), server.start()]);
    database = await server.create();
    await hubs.start(`broker: { url: '${broker.url}' }\ndatabase: { url: '${database}' }\n`, broker.url);
  }, 120_000);
  afterAll(async () => {
    await hubs.remove();
    await broker.stop();
    await server.remove();
  });

  test('one of them sends, the other continues after its kill, and each reading of all cars arrives once', async () => {
    await expectEachOnce(hubs, () =>
      onPostgres(database, { limit: 100, clock: new SystemClock(), log: new MemoryLog() }),
    );
  }, 300_000);
});
