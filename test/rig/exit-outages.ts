/**
 * A car with all exits on a drive of the simulated car, four times as fast as real time: plain topics and Home Assistant
 * on a real Mosquitto, a real InfluxDB, a receiver for A Better Routeplanner. Its cloud is another Mosquitto. The frames
 * reach the car through a pipe, so the test knows all of them, and the car drives on while its unit has no power.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { connectAsync, type MqttClient } from 'mqtt';
import { DbcDecoder } from '../../adapters/can/dbc/index.ts';
import { formatCandump } from '../../adapters/can/log/writer.ts';
import { SimulatedCar } from '../../adapters/simulated/index.ts';
import { Channels } from '../../agent/model/channels.ts';
import { Mapping } from '../../agent/model/mapping.ts';
import { Status } from '../../agent/model/status.ts';
import type { FrameBatch } from '../../agent/ports.ts';
import { loadProfile } from '../../config/profile.ts';
import { codec, database } from '../adapters/simulated/network.ts';
import { VigieProcess, vigie } from './bench.ts';
import { csvRows, readingsOfRows } from './exported-readings.ts';
import { handOver } from './hand-over.ts';
import { InfluxRig } from './influx.ts';
import { readingsIn } from './influx-relay.ts';
import { MosquittoRig } from './mosquitto.ts';
import { TopicHistory } from './plain-topics.ts';
import { QuickTime } from './quick-time.ts';

const VIN = 'VF30A00000B000042';
const PREFIX = `vigie/plain/${VIN}/`;

/** Topics without a value of Status, and the one of a value that the agent makes itself. */
const OTHER = /^(presence|command|events|test|records\/.*|alarm\/trigger\/startAt)$/;

/** Fields of A Better Routeplanner that are values of Status in the same unit. */
const ROUTEPLANNER = {
  soc: 'energies/Electric/level',
  speed: 'kinetic/speed',
  lat: 'lastPosition/latitude',
  lon: 'lastPosition/longitude',
  odometer: 'odometer/mileage',
} as const;

export class ExitOutages {
  readonly broker = new MosquittoRig();
  readonly cloud = new MosquittoRig();
  readonly influx = new InfluxRig();
  /** All messages on topics of values, in order: end of the topic, text. */
  readonly messages: (readonly [name: string, text: string])[] = [];
  /** All messages to A Better Routeplanner, in order, as messages on topics of the same values. */
  readonly planned: (readonly [name: string, text: string])[] = [];
  readonly history: TopicHistory;
  readonly #status = new Status();
  readonly #folder = mkdtempSync(join(tmpdir(), 'vigie-outages-'));
  readonly #time: QuickTime;
  readonly #simulated: SimulatedCar;
  readonly #decode: (batch: FrameBatch) => void;
  readonly #planner: Server = createServer(async (request, response) => {
    const { tlm } = (await json(request)) as { readonly tlm: Readonly<Record<string, unknown>> };
    for (const [field, name] of Object.entries(ROUTEPLANNER)) this.planned.push([name, String(tlm[field])]);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}');
  });
  #car: VigieProcess | undefined;
  #client: MqttClient | undefined;
  #arrived: () => void = () => undefined;
  /** Monotonic time of the car in ms at the start of the drive. */
  #began = 0;

  constructor(factor: number) {
    const { profile } = loadProfile('bench', { shipped: new URL('../../config/vehicles', import.meta.url).pathname });
    if (profile === undefined) throw new Error('the profile of the bench cannot be used');
    this.#time = new QuickTime(Date.now(), factor);
    this.history = new TopicHistory(this.#status);
    this.#simulated = new SimulatedCar({ clock: this.#time, codec });
    const mapping = new Mapping(this.#status, new Channels(), profile);
    const decoder = new DbcDecoder(mapping.wanted, [{ bus: 'body', database }], this.#simulated.buses);
    this.#decode = (batch) => decoder.decode(batch, mapping);
  }

  async start(): Promise<void> {
    this.#planner.listen(0, '127.0.0.1');
    await Promise.all([once(this.#planner, 'listening'), this.broker.start(), this.cloud.start(), this.influx.start()]);
    await this.influx.query('CREATE DATABASE cars');
    this.#client = await connectAsync(this.broker.url, { reconnectPeriod: 50 });
    this.#client.on('message', (topic, payload, { retain }) => {
      // After an outage the broker repeats what it retained before newer messages.
      const name = topic.slice(PREFIX.length);
      if (!topic.startsWith(PREFIX) || retain || OTHER.test(name)) return;
      this.messages.push([name, payload.toString()]);
      this.#arrived();
    });
    await this.#client.subscribeAsync('#', { qos: 1 });
    for (const name of ['token', 'key']) writeFileSync(join(this.#folder, name), name, { mode: 0o600 });
    writeFileSync(
      this.#file,
      `configuration: 1
vin: ${VIN}
profile: bench
data: ${this.#data}
can: [{ bus: body, log: '-' }]
mqtt: { url: '${this.cloud.url}' }
outbox: { batch: 2s }
exits:
  mqtt: { url: '${this.broker.url}' }
  homeAssistant: { language: en }
  influx: { url: '${this.influx.url}', database: cars }
  abrp: { url: 'http://127.0.0.1:${(this.#planner.address() as AddressInfo).port}', tokenFile: token, apiKeyFile: key }
`,
    );
    await this.powerOn();
    this.#began = this.#time.monotonic();
    await this.#simulated.start((batch) => this.#pass(batch));
  }

  /** Resolves when the drive has lasted for this long. */
  drivenFor(minutes: number): Promise<void> {
    const wait = this.#began + minutes * 60_000 - this.#time.monotonic();
    return new Promise((resolve) => {
      this.#time.after(Math.max(0, wait), resolve);
    });
  }

  async powerOn(): Promise<void> {
    this.#car = new VigieProcess(['run', '--config', this.#file], undefined, this.#time.prefix);
    await this.#car.says('ready:');
  }

  async cutPower(): Promise<void> {
    const car = this.#car;
    this.#car = undefined;
    await car?.end('SIGKILL');
  }

  /** Lets the car come to rest, and the bus fall silent. Resolves when all topics have the last values. */
  async park(): Promise<void> {
    this.#simulated.play('park');
    await this.#until(() => this.#status.contents().kinetic?.moving === false);
    await this.#simulated.stop();
    await this.#until(() => this.stale().length === 0);
  }

  /** Returns the topics on which the last message differs from the last value of the car. */
  stale(): readonly string[] {
    const last = new Map(this.messages);
    return [...this.history.texts].flatMap(([name, texts]) => (last.get(name) === texts.at(-1) ? [] : [name]));
  }

  /** Stops the car. Resolves with its readings and those of each receiver: path, time in ms, value; sorted. */
  async outcome(): Promise<Readonly<Record<'car' | 'influx' | 'csv' | 'parquet' | 'ndjson', readonly string[]>>> {
    await this.#car?.end('SIGTERM');
    const [csv = '', parquet = '', ndjson = ''] = await Promise.all(['csv', 'parquet', 'ndjson'].map(this.#export));
    const car = await handOver(this.#file, this.#data, VIN);
    const influx = (await readingsIn(this.influx, 'cars')).map(({ text }) => text).sort();
    const lines = readFileSync(ndjson, 'utf8').trim().split('\n');
    return {
      car,
      influx,
      csv: readingsOf(csvRows(readFileSync(csv, 'utf8'))),
      parquet: readingsOf(await parquetReadObjects({ file: await asyncBufferFromFile(parquet) })),
      ndjson: readingsOf(lines.map((line) => JSON.parse(line))),
    };
  }

  async remove(): Promise<void> {
    await this.#simulated.stop();
    await this.#client?.endAsync(true);
    await this.#car?.end('SIGKILL');
    this.#planner.closeAllConnections();
    this.#planner.close();
    await Promise.all([this.broker.remove(), this.cloud.remove(), this.influx.remove()]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  get #file(): string {
    return join(this.#folder, 'vigie.yaml');
  }

  #pass(batch: FrameBatch): void {
    const lines = Array.from({ length: batch.count }, (_, i) => `${formatCandump(batch, i, ['body'])}\n`);
    this.#car?.write(lines.join(''));
    this.#decode(batch);
    this.#arrived();
  }

  /** Resolves when `holds` returns true after a frame or a message. */
  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#arrived = () => {
        if (holds()) resolve();
      };
      this.#arrived();
    });
  }

  readonly #export = async (format: string): Promise<string> => {
    const output = join(this.#folder, `readings.${format}`);
    const args = ['export', VIN, '--data', this.#data, '--format', format, '--output', output];
    const { status, stderr } = await vigie(...args);
    if (status !== 0) throw new Error(`export ended with status ${status}: ${stderr}`);
    return output;
  };
}

/** Returns the readings without the points of the route, which only files have. */
function readingsOf(rows: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return readingsOfRows(rows).filter((one) => !one.startsWith('waypoint.'));
}
