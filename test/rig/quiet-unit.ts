/**
 * `vigie run` on a real broker with all parts that a unit may have: adapter, receiver, interface, metrics, recording.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DbcCodec } from '../../adapters/can/dbc/index.ts';
import { CommandSigner, generateKey } from '../../adapters/keys/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { encodeBody, encodeCommand } from '../../protocol/command.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { downTopic, presenceTopic, upFilter } from '../../protocol/topics.ts';
import { Adapter } from '../adapters/can/slcan/adapter.ts';
import { type PseudoTerminal, plugIn } from '../adapters/lines/pseudo-terminal.ts';
import { FarEnd } from '../adapters/lines/server.ts';
import { Arrivals } from './arrivals.ts';
import { VigieProcess } from './bench.ts';
import { hashCheaply } from './cheap-password.ts';
import { MosquittoRig } from './mosquitto.ts';

const VIN = 'VF3VNREST00000001';

export interface QuietOptions {
  /** Keep-alive interval, awake and asleep, e.g. `60s`. */
  readonly keepalive: string;
  /** Time for which the unit stays awake, e.g. `3s`. */
  readonly standbyFor: string;
}

export class QuietUnit {
  readonly presence = new Arrivals<string>();
  readonly messages = new Arrivals<Message>();
  readonly adapter: Adapter;
  readonly #folder = mkdtempSync(join(tmpdir(), 'vigie-quiet-'));
  readonly #broker = new MosquittoRig();
  readonly #ends: FarEnd[] = [];
  readonly #devices: PseudoTerminal[] = [];
  readonly #codec = new DbcCodec(loadVehicle('bench').databases);
  #cloud: CloudClient | undefined;
  #process: VigieProcess | undefined;
  #say: (text: string) => void = () => undefined;

  private constructor() {
    this.adapter = new Adapter('lawicel', (text) => this.#say(text));
  }

  /** Resolves when the unit is ready, connected, and receives from bus and GNSS receiver. */
  static async start(options: QuietOptions): Promise<QuietUnit> {
    const unit = new QuietUnit();
    await unit.#broker.start();
    unit.#cloud = await CloudClient.connect(unit.#broker.url);
    await unit.#cloud.subscribe(upFilter(VIN), (_topic, payload) => unit.messages.push(decodeMessage(payload)));
    await unit.#cloud.subscribe(presenceTopic(VIN), (_topic, payload) =>
      unit.presence.push(new TextDecoder().decode(payload)),
    );
    const bus = await unit.#device('can');
    unit.#say = (text) => bus.say(text);
    bus.heard = (text) => unit.adapter.hear(text);
    const receiver = await unit.#device('gnss');
    await generateKey(join(unit.#folder, 'keys'), 'owner', { algorithm: 'ES256', kinds: ['WakeUp', 'Doors'] });
    await unit.#configure(options);
    unit.#process = new VigieProcess(['run', '-c', join(unit.#folder, 'vigie.yaml')]);
    await unit.#process.says(`ready: ${VIN}`);
    await unit.presence.take((word) => word === 'online');
    await bus.until(() => unit.adapter.mode === 'joined');
    // A receiver with a fix once a second while it exists.
    receiver.say('$GPTXT,01,01,02,hello*2D\r\n');
    return unit;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get output(): string {
    return this.#process?.output ?? '';
  }

  /** Sends one frame on the bus with this mileage, km. */
  talk(mileage: number): void {
    const { id, data } = this.#codec.encode('ODOMETER', { Mileage: mileage });
    this.adapter.receive(`t${id.toString(16).padStart(3, '0')}${data.length}${Buffer.from(data).toString('hex')}`);
  }

  /** Sends a signed command. Returns its id in the reports. */
  async wake(): Promise<string> {
    const signer = await CommandSigner.open(join(this.#folder, 'keys'), 'owner');
    const id = crypto.randomUUID();
    const issued = Date.now();
    const command = { id, vin: VIN, kind: 'WakeUp', issued, expires: issued + 60_000 } as const;
    const body = encodeBody('WakeUp', {});
    const signed = await signer.sign((counter) => encodeCommand({ ...command, counter, body }));
    await this.#cloud?.publish(downTopic(VIN, 'remote'), signed);
    return id;
  }

  async close(): Promise<void> {
    await this.#process?.end('SIGTERM');
    await this.#cloud?.close();
    for (const device of this.#devices) await device.unplug();
    for (const end of this.#ends) await end.close();
    await this.#broker.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #device(name: string): Promise<FarEnd> {
    const end = await FarEnd.listen();
    this.#ends.push(end);
    this.#devices.push(await plugIn(join(this.#folder, name), end.port));
    return end;
  }

  async #configure({ keepalive, standbyFor }: QuietOptions): Promise<void> {
    const bench = fileURLToPath(new URL('../../config/vehicles/bench/', import.meta.url));
    const car = join(this.#folder, 'car');
    mkdirSync(car);
    cpSync(bench, car, { recursive: true });
    const profile = readFileSync(join(car, 'profile.yaml'), 'utf8');
    const withReceiver = profile
      .replace('buses:\n', 'buses:\n  - { name: sky, gnss: true }\n')
      .replace('GNSS.Latitude', 'GNSS.latitude')
      .replace('GNSS.Longitude', 'GNSS.longitude');
    writeFileSync(join(car, 'profile.yaml'), withReceiver);
    writeFileSync(join(this.#folder, 'password'), await hashCheaply('secret'), { mode: 0o600 });
    writeFileSync(
      join(this.#folder, 'vigie.yaml'),
      `configuration: 1
vin: ${VIN}
profile: ./car
data: ./records
can: [{ bus: body, slcan: 'serial:${join(this.#folder, 'can')}' }]
gnss: { nmea: 'serial:${join(this.#folder, 'gnss')}' }
record: { folder: ./recordings }
mqtt: { url: '${this.#broker.url}', keepalive: ${keepalive} }
commands: { trust: keys/trust.json }
power: { standbyFor: ${standbyFor}, lowBatteryStandbyFor: ${standbyFor}, busSilentAfter: 2s }
metrics: { listen: '127.0.0.1:0' }
http:
  listen: 127.0.0.1:0
  fleet: [{ name: rig, passwordFile: ./password, clientId: rig, fleets: [local] }]
`,
    );
  }
}
