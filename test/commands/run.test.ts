/** `vigie run` as a process, with live inputs over TCP and a separate broker. */
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectSecurely } from 'node:tls';
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { DbcCodec } from '../../adapters/can/dbc/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { formatDuration } from '../../protocol/duration.ts';
import type { Message } from '../../protocol/schema/message.ts';
import type { StatusContents } from '../../protocol/schema/status.ts';
import { presenceTopic, upFilter } from '../../protocol/topics.ts';
import { Adapter } from '../adapters/can/slcan/adapter.ts';
import { FarEnd } from '../adapters/lines/server.ts';
import { Ecu, hex, unhex } from '../adapters/obd/elm327/car.ts';
import { Emulator } from '../adapters/obd/elm327/emulator.ts';
import { profileWithReceiver } from '../drives/sky.ts';
import { fix } from '../drives/way.ts';
import { AedesRig } from '../rig/aedes.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { Authority } from '../rig/certificates.ts';
import { hashCheaply } from '../rig/cheap-password.ts';

const VIN = 'VF3RVNNERCAR00001';

/** Collects the messages of a car, and waits for the next ones. */
class Cloud {
  readonly messages: Message[] = [];
  readonly presence: string[] = [];
  readonly #waiting = new Set<() => void>();

  static async connect(url: string): Promise<Cloud> {
    const client = await CloudClient.connect(url);
    const cloud = new Cloud(client);
    await client.subscribe(upFilter(VIN), (_topic, payload) => {
      cloud.messages.push(decodeMessage(payload));
      cloud.#look();
    });
    await client.subscribe(presenceTopic(VIN), (_topic, payload) => {
      cloud.presence.push(new TextDecoder().decode(payload));
      cloud.#look();
    });
    return cloud;
  }

  readonly #client: CloudClient;

  private constructor(client: CloudClient) {
    this.#client = client;
  }

  /** Full and partial Status messages, in order. */
  get statuses(): StatusContents[] {
    return this.messages.flatMap((message) => (message.kind === 'status' ? [message.body.status] : []));
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          this.#waiting.delete(look);
          resolve();
        };
        this.#waiting.add(look);
      });
    }
  }

  async speed(kmh: number): Promise<void> {
    await this.until(() => this.statuses.some(({ kinetic }) => kinetic?.speed === kmh));
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }
}

const folders: string[] = [];
let broker: AedesRig;
let folder: string;
let cloud: Cloud;
let agent: VigieProcess | undefined;
let ends: FarEnd[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-run-'));
  folders.push(folder);
  ends = [];
  // A separate broker per test, so that no retained messages of one car are left for the next.
  broker = new AedesRig();
  await broker.start();
  cloud = await Cloud.connect(broker.url);
});
afterEach(async () => {
  await agent?.end('SIGKILL');
  agent = undefined;
  await cloud.close();
  for (const end of ends) await end.close();
  await broker.stop();
});
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

async function farEnd(): Promise<FarEnd> {
  const end = await FarEnd.listen();
  ends.push(end);
  return end;
}

/** Starts the agent with these inputs. */
function run(profile: string, inputs: string): VigieProcess {
  const file = join(folder, 'vigie.yaml');
  const rest = `data: ./records\nmqtt: { url: ${broker.url} }\n`;
  writeFileSync(file, `configuration: 1\nvin: ${VIN}\nprofile: ${profile}\n${inputs}\n${rest}`);
  agent = new VigieProcess(['run', '-c', file]);
  return agent;
}

describe('an ELM327 and a GNSS receiver', () => {
  let speed: number;
  let rpm: number;
  let emulator: Emulator;
  let adapter: FarEnd;
  let receiver: FarEnd;

  beforeEach(async () => {
    speed = 50;
    rpm = 1726;
    /** Answers with engine speed, vehicle speed, and the list of supported PIDs. */
    const answers = (request: string): readonly string[] | undefined => {
      const [service, ...pids] = unhex(request);
      if (service !== 1) return undefined;
      const data = pids.flatMap((pid) => {
        if (pid === 0x00) return [pid, 0, 0x18, 0, 0];
        if (pid === 0x0c) return [pid, (rpm * 4) >> 8, (rpm * 4) & 0xff];
        return pid === 0x0d ? [pid, speed] : [];
      });
      return data.length === 0 ? undefined : [hex([0x41, ...data])];
    };
    emulator = new Emulator({ ecus: [new Ecu({ request: 0x7e0, response: 0x7e8, answers })] });
    adapter = await farEnd();
    adapter.heard = (text) => emulator.receive(text);
    emulator.print = (text) => adapter.say(text);
    receiver = await farEnd();
    writeFileSync(join(folder, 'profile.yaml'), profileWithReceiver());
  });

  const start = (port = adapter.port): VigieProcess =>
    run(
      './profile.yaml',
      `obd: { elm327: 'tcp://127.0.0.1:${port}' }\ngnss: { nmea: 'tcp://127.0.0.1:${receiver.port}' }`,
    );

  /** Changes the speed. If the engine starts or stops with it, that is reported sooner than speed alone. */
  const drive = async (kmh: number): Promise<void> => {
    speed = kmh;
    rpm = rpm === 0 ? 1726 : 0;
    await cloud.speed(kmh);
  };

  test('an ELM327 and a GNSS receiver produce a Status with speed and position', async () => {
    const process = start();
    await process.says(`ready: ${VIN} (generic-obd2)`);
    await receiver.until(() => receiver.open > 0);
    receiver.say(fix({ latitude: 48.8566, longitude: 2.3522, heading: 90 }, speed, Date.now()));
    await cloud.speed(50);
    await cloud.until(() => cloud.statuses.some(({ lastPosition }) => lastPosition !== undefined));
    const place = cloud.statuses.find(({ lastPosition }) => lastPosition !== undefined)?.lastPosition;
    expect(place?.geometry?.coordinates[0]).toBeCloseTo(2.3522, 5);
    expect(place?.geometry?.coordinates[1]).toBeCloseTo(48.8566, 5);
    expect(place?.properties).toMatchObject({ fixStatus: '3D', heading: 90 });
    expect(await process.end('SIGTERM'), process.output).toBe(0);
    await cloud.until(() => cloud.presence.length > 1);
    expect(process.output).not.toMatch(/"level":"error"/);
  });

  test('readings continue after an adapter disconnects, sends garbage and hangs, and the process stops when asked', async () => {
    const process = start();
    await cloud.speed(50);
    adapter.hangUp();
    emulator.restart();
    await drive(61);
    expect(adapter.connections).toBe(2);

    adapter.say('\0\xff7E8 03 41 0D FE\r\r>ELM327 v9.9\r\r>SEARCHING...\r7E8 10\r?\r>');
    await drive(72);
    expect(cloud.statuses.map(({ kinetic }) => kinetic?.speed)).not.toContain(0xfe);

    // A request is in progress that is never answered.
    const before = emulator.commands.length;
    emulator.interventions.push(() => undefined);
    await adapter.until(() => emulator.commands.length > before);
    expect(await process.end('SIGTERM'), process.output).toBe(0);
    expect(process.output).not.toMatch(/"level":"error"/);
  });

  test('the agent is ready without adapter and receiver, and connects when they appear', async () => {
    const { port } = adapter;
    await adapter.close();
    ends.splice(ends.indexOf(adapter), 1);
    const process = start(port);
    await process.says('ready: ');
    await process.says('elm327.waiting');
    const late = await FarEnd.listen(port);
    ends.push(late);
    late.heard = (text) => emulator.receive(text);
    emulator.print = (text) => late.say(text);
    await cloud.speed(50);
    expect(await process.end('SIGINT'), process.output).toBe(0);
  });
});

describe('an slcan adapter', () => {
  const codec = new DbcCodec(loadVehicle('bench').databases);
  const line = (kmh: number, moving: number): string => {
    const { id, data } = codec.encode('MOTION', { Speed: kmh, Moving: moving });
    return `t${id.toString(16).padStart(3, '0')}${data.length}${hex([...data])}`;
  };

  test('an slcan adapter feeds the agent, and its frames are recorded in rotated files that can be replayed', async () => {
    const far = await farEnd();
    const adapter = new Adapter('lawicel', (text) => far.say(text));
    far.heard = (text) => adapter.hear(text);
    const recordings = join(folder, 'recordings');
    const process = run(
      'bench',
      `can:\n  - { bus: body, slcan: 'tcp://127.0.0.1:${far.port}' }\nrecord: { folder: ./recordings, size: 4KiB, keep: 3 }`,
    );
    await process.says('ready: ');
    await far.until(() => adapter.mode === 'listening');
    // The bus sends all the time. The agent reads frames after it has received the acknowledgement of the open channel.
    const bus = setInterval(() => adapter.receive(line(5, 0)), 20);
    await cloud.speed(5).finally(() => clearInterval(bus));
    const PORTION = 120;
    const portions = [1, 2, 3, 4, 5, 6];
    for (const portion of portions) {
      // A start or stop of the car is reported sooner than a speed alone.
      for (let i = 1; i <= PORTION; i++) adapter.receive(line(portion * 10 + i / 100, portion % 2));
      await cloud.speed(portion * 10 + Math.round(PORTION / 10) / 10);
    }
    expect(await process.end('SIGTERM'), process.output).toBe(0);
    // The adapter was opened in listen mode and closed again.
    expect(adapter.mode).toBe('closed');
    expect(adapter.sent).toEqual([]);

    const files = readdirSync(recordings).sort();
    expect(files).toHaveLength(3);
    const decoded = await vigie('decode', ...files.map((name) => join(recordings, name)), '--raw');
    const speeds = decoded.stdout
      .trim()
      .split('\n')
      .map((text) => Number.parseInt((JSON.parse(text) as { data: string }).data.slice(0, 4), 16) / 100);
    const sent = portions.flatMap((portion) =>
      Array.from({ length: PORTION }, (_, i) => Math.round(portion * 1000 + i + 1) / 100),
    );
    // The newest files, without a gap.
    expect(speeds.length).toBeGreaterThan(PORTION);
    expect(speeds.length).toBeLessThan(sent.length);
    expect(speeds).toEqual(sent.slice(-speeds.length));

    const replay = await vigie('replay', ...files.map((name) => join(recordings, name)), '--profile', 'bench');
    expect(replay.status, replay.stderr).toBe(0);
    expect(replay.stderr).toContain(`${speeds.length} frames`);
    const replayed = replay.stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as { topic: string; body: { status?: StatusContents } })
      .flatMap(({ body }) => body.status?.kinetic?.speed ?? []);
    expect(replayed.at(-1)).toBe(61.2);
  });
});

test('programs use the time zone of the configuration', async () => {
  const keys = join(folder, 'keys');
  await vigie('keys', 'make', 'me', '--dir', keys);
  const inputs = 'can: [{ bus: body, simulated: true }]\ncommands: { trust: keys/trust.json }\ntimeZone: Asia/Tokyo';
  await run('bench', inputs).says('link.up');
  // In an hour by London winter time. Tokyo is nine hours ahead of that all year.
  const due = Math.ceil(Date.now() / 60_000) * 60 + 3600;
  const at = new Date(due * 1000).toISOString().replace('.000Z', '+00:00');
  const sent = await vigie('send', VIN, 'charge', '--at', at, '--broker', broker.url, '--keys', keys);
  expect(sent.stdout).toContain('"Success"');
  const planned = (): (string | undefined)[] =>
    cloud.statuses.flatMap(({ energies }) =>
      (energies ?? []).map((energy) => energy.extension?.electric?.charging?.nextDelayedTime),
    );
  await cloud.until(() => planned().some((time) => time !== undefined));
  expect(planned().filter((time) => time !== undefined)).toContain(formatDuration((due + 9 * 3600) % 86_400));
});

test('the process stops although clients hold idle connections to its interface', async () => {
  const authority = new Authority(folder);
  const { certFile, keyFile } = authority.issue('car');
  writeFileSync(join(folder, 'password'), await hashCheaply('a long password'), { mode: 0o600 });
  chmodSync(keyFile, 0o600);
  const process = run(
    'bench',
    'can: [{ bus: body, simulated: true }]\nhttp:\n  listen: 127.0.0.1:0\n' +
      `  tls: { cert: ${certFile}, key: ${keyFile} }\n` +
      '  fleet: [{ name: operator, passwordFile: password, clientId: app, fleets: [f1] }]',
  );
  await process.says('ready: ');
  const [, port] = /"port":(\d+),"tls":true/.exec(process.output) ?? [];
  const idle = await Promise.all(
    Array.from({ length: 8 }, () => {
      const socket = connect(Number(port), '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      return once(
        socket.on('error', () => undefined),
        'connect',
      ).then(() => socket);
    }),
  );
  // One connection sends the start of a TLS record of 512 bytes, and nothing after it.
  idle[0]?.write(Uint8Array.of(0x16, 3, 1, 2, 0));
  // Connections are accepted in order, so the server has accepted the earlier ones by then.
  const secure = connectSecurely({ port: Number(port), host: '127.0.0.1', ca: [Buffer.from(authority.cert)] });
  await once(secure, 'secureConnect');
  secure.destroy();
  expect(await process.end('SIGTERM'), process.output).toBe(0);
});

describe('invalid addresses', () => {
  test.each([
    ["obd: { elm327: 'serial:ttyUSB0' }", 4, 'ttyUSB0'],
    ["can:\n  - { bus: obd, slcan: 'usb:ttyACM0' }", 5, 'usb is not a kind of line'],
  ])('an invalid address %j is reported by check and stops run, with file and line', async (inputs, at, word) => {
    const process = run('generic-obd2', inputs);
    expect(await process.ended()).toBe(2);
    expect(process.output).toMatch(new RegExp(`vigie\\.yaml:${at}: error: .*${word}`));
    expect(process.output).not.toContain('ready');
    const { status, stdout } = await vigie('check', '-c', join(folder, 'vigie.yaml'), '--format', 'text');
    expect(status).toBe(2);
    expect(stdout).toMatch(new RegExp(`vigie\\.yaml:${at}: error: .*${word}`));
  });
});
