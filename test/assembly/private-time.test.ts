/**
 * Marked values on the bus of a car during a private time appear in no output: captures, fault codes, metrics, log,
 * disk, messages, and the hub's data and answers. Each output must contain the values of the public time, which the
 * same search finds.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Agent as HttpAgent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { append, createBatch } from '../../adapters/can/frames.ts';
import { bytesOf, hexOf } from '../../adapters/obd/hex.ts';
import { IsoTp } from '../../adapters/obd/isotp/index.ts';
import type { FrameBatch, FrameSource } from '../../agent/ports.ts';
import { startCar } from '../../assembly/car.ts';
import { faultCodesOf } from '../../assembly/faults.ts';
import { Service, STATUS_SOCKET } from '../../assembly/service.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import { startHub } from '../../hub/start/hub.ts';
import { unpackFrames } from '../../protocol/captures/capture.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { Bus, batchOf, ControlUnit } from '../adapters/obd/isotp/wire.ts';
import { standard } from '../adapters/obd/standard.ts';
import { TestClock } from '../commands/remote-car.ts';
import { MemoryLog } from '../rig/log.ts';

const VIN = 'VF3VGEHVBP0000001';
const [MOTION, PLACE, PRIVACY, CRASH] = [0x100, 0x110, 0x120, 0x130];
const FAULT_READING_INTERVAL_MS = 20_000;

/** Values of the car: speed (km/h), distance (km), degrees, a custom signal, a fault code. */
interface Marked {
  readonly speed: number;
  readonly mileage: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly torque: number;
  readonly code: string;
}
const OPEN: Marked = {
  speed: 61.25,
  mileage: 40_123,
  latitude: 48.1234567,
  longitude: 2.7654321,
  torque: 4711,
  code: 'P0143',
};
const SECRET: Marked = {
  speed: 123.45,
  mileage: 41_987,
  latitude: 48.1252933,
  longitude: 2.7671847,
  torque: 31_337,
  code: 'P0ABC',
};

const dbc = `VERSION ""
BU_: ECU
BO_ ${MOTION} MOTION: 8 ECU
 SG_ Speed : 0|16@1+ (0.01,0) [0|0] "km/h" ECU
 SG_ Mileage : 16|32@1+ (1,0) [0|0] "km" ECU
 SG_ Torque : 48|16@1+ (1,0) [0|0] "Nm" ECU
BO_ ${PLACE} PLACE: 8 ECU
 SG_ Latitude : 0|32@1- (0.0000001,0) [0|0] "deg" ECU
 SG_ Longitude : 32|32@1- (0.0000001,0) [0|0] "deg" ECU
BO_ ${PRIVACY} PRIVACY: 8 ECU
 SG_ State : 0|8@1+ (1,0) [0|0] "" ECU
BO_ ${CRASH} CRASH: 8 ECU
 SG_ Hit : 0|1@1+ (1,0) [0|0] "" ECU
`;
const profile = `profile: 1
name: private
buses: [{ name: can, dbc: [car.dbc] }]
status:
  kinetic.speed: { signal: MOTION.Speed }
  odometer.mileage: { signal: MOTION.Mileage }
  lastPosition.latitude: { signal: PLACE.Latitude }
  lastPosition.longitude: { signal: PLACE.Longitude }
  privacy.state: { signal: PRIVACY.State, map: { 0: None, 1: Geolocation, 2: Full } }
collision:
  detected: { signal: CRASH.Hit, map: { 0: false, 1: true } }
signals:
  Vehicle.Torque: { signal: MOTION.Torque, unit: Nm, resolution: 1, interval: 0 }
captures:
  collision: { before: 20s, after: 5s }
`;

class TestBus implements FrameSource {
  readonly buses = ['can'];
  #receive: (batch: FrameBatch) => void = () => undefined;

  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    this.#receive = receive;
  }

  async stop(): Promise<void> {
    this.#receive = () => undefined;
  }

  send(at: number, frames: readonly (readonly [id: number, data: Uint8Array])[]): void {
    const batch = createBatch(frames.length, frames.length * 64);
    for (const [id, data] of frames) append(batch, at, id, 0, 0, data, 8);
    this.#receive(batch);
  }
}

function framesOf({ speed, mileage, latitude, longitude, torque }: Marked): readonly (readonly [number, Uint8Array])[] {
  const [motion, place] = [new DataView(new ArrayBuffer(8)), new DataView(new ArrayBuffer(8))];
  motion.setUint16(0, Math.round(speed * 100), true);
  motion.setUint32(2, mileage, true);
  motion.setUint16(6, torque, true);
  place.setInt32(0, Math.round(latitude * 1e7), true);
  place.setInt32(4, Math.round(longitude * 1e7), true);
  return [
    [MOTION, new Uint8Array(motion.buffer)],
    [PLACE, new Uint8Array(place.buffer)],
  ];
}

/** Encodings that outputs may use: text, CBOR floats (RFC 8949 §3.3), and bytes of frames. */
function formsOf({ latitude, longitude, torque, mileage, speed, code }: Marked): readonly Buffer[] {
  const floats = [latitude, longitude, speed].flatMap((value) => {
    const [big, little] = [Buffer.alloc(8), Buffer.alloc(8)];
    big.writeDoubleBE(value);
    little.writeDoubleLE(value);
    return [big, little];
  });
  const texts = [
    String(latitude).slice(0, 7),
    String(longitude).slice(0, 7),
    String(torque),
    String(mileage),
    String(speed),
    code,
  ];
  const frames = framesOf({ latitude, longitude, torque, mileage, speed, code });
  return [
    ...texts.map((text) => Buffer.from(text)),
    ...floats,
    ...frames.flatMap(([, data]) => [Buffer.from(data), Buffer.from(hexOf(data))]),
  ];
}

const has = (content: Buffer, marked: Marked): readonly string[] =>
  formsOf(marked)
    .filter((form) => content.includes(form))
    .map((form) => form.toString('latin1'));

function filesIn(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
}

/** A message with its unpacked content: bytes of its body as a receiver decodes them. */
function contentOf(message: Message): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  return message.kind === 'capture' ? Buffer.concat([text, Buffer.from(unpackFrames(message.body).data)]) : text;
}

test('values of a private time are in no capture, fault code, metric, log, file, message or answer of the hub', {
  timeout: 180_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-private-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'car.dbc'), dbc);
  writeFileSync(join(folder, 'profile.yaml'), profile);
  const vehicle = loadVehicle(folder);
  const clock = new TestClock();
  const [log, hubLog, bus] = [new MemoryLog(), new MemoryLog(), new TestBus()];
  const hub = await startHub({
    data: join(folder, 'hub'),
    port: 0,
    http: 0,
    metrics: 0,
    clock,
    log: hubLog,
  });
  // A control unit with one fault code, and the speed when it was found (freeze frame).
  const wire = new Bus(clock.virtual);
  const requester = new IsoTp({ clock, sender: wire, bus: 'obd', index: 0, asleepAfter: Number.POSITIVE_INFINITY });
  wire.join((frame) => requester.receive(batchOf(frame)));
  let code = '0143';
  new ControlUnit({
    clock: clock.virtual,
    bus: wire,
    listens: [2016, 0x7df],
    answers: 2024,
    serve: (asked) => {
      const answers: Record<string, string> = {
        '0101': '410181000000',
        '03': `4301${code}`,
        '07': '4700',
        '0A': '4A00',
      };
      const answer = answers[hexOf(asked)];
      return answer === undefined ? [] : [bytesOf(answer) as Uint8Array];
    },
  });
  const found: (() => void)[] = [];
  const asking = { requester, sets: [standard()], onUnitsFound: (one: () => void) => void found.push(one) };
  const faults = await faultCodesOf(asking, { every: FAULT_READING_INTERVAL_MS }, vehicle.profile, log);
  const data = join(folder, 'car');
  const messages: Message[] = [];
  const payloads: Uint8Array[] = [];
  mkdirSync(data);
  const service = await Service.open({
    vin: VIN,
    profile: 'private',
    data,
    clock,
    log,
    environment: {},
    starts: { before: undefined },
    configurations: {
      agentCommand: async () => undefined,
      attend: () => undefined,
      delivered: async () => undefined,
      reached: async () => false,
    } as never,
  });
  const car = await startCar({
    vin: VIN,
    vehicle,
    data,
    sources: [bus],
    mqtt: { url: hub.broker, protocol: 4 },
    faults,
    service,
    log,
    clock,
    backoff: { first: 20, longest: 100 },
    settings: agentSettings({ outbox: { batch: 2_000 }, power: { standbyFor: 86_400_000 } }),
    published: (_topic, payload) => {
      payloads.push(payload.slice());
      messages.push(decodeMessage(payload));
    },
  });
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.virtual.advance(50);
      await setTimeout(1);
    }
  };
  const drive = async (seconds: number, state: number, marked: Marked, place: Marked = marked): Promise<void> => {
    const [[, motion] = []] = framesOf(marked);
    const [, [, position] = []] = framesOf(place);
    for (let step = 0; step < seconds * 5; step++) {
      // The privacy state comes first: a private time begins with the batch that reports it.
      const hit = step === seconds * 3 ? 1 : 0;
      bus.send(clock.now(), [
        [PRIVACY, Uint8Array.of(state)],
        [MOTION, motion as Uint8Array],
        [PLACE, position as Uint8Array],
        [CRASH, Uint8Array.of(hit)],
      ]);
      await pass(200);
    }
  };
  await drive(30, 0, OPEN);
  for (const one of found) one();
  await drive(30, 0, OPEN);
  await drive(30, 1, OPEN, SECRET);
  code = '0ABC';
  await drive(40, 2, SECRET);
  code = '0143';
  await drive(40, 0, OPEN);
  const http = async (url: string, socketPath?: string): Promise<Buffer> => {
    const dispatcher = new HttpAgent(socketPath === undefined ? {} : { connect: { socketPath } });
    const { body } = await request(url, { dispatcher });
    const content = Buffer.from(await body.arrayBuffer());
    await dispatcher.close();
    return content;
  };
  const carMetrics = await http('http://localhost/metrics', join(data, STATUS_SOCKET));
  const stopping = car.stop();
  await Promise.all([stopping, pass(5_000)]);
  await service.close(true);
  const own = `/vigie/v1/vehicles/${VIN}`;
  const list = JSON.parse((await http(`${hub.interface.url}/fleets/local/vehicles`)).toString()) as {
    _embedded: { vehicles: readonly { id: string }[] };
  };
  const fleet = `/fleets/local/vehicles/${list._embedded.vehicles[0]?.id}`;
  const captures = JSON.parse((await http(`${hub.interface.url}${own}/captures`)).toString()) as {
    captures: readonly { id: string }[];
  };
  const outputs: Record<string, Buffer> = {
    'messages, decoded': Buffer.concat(messages.map(contentOf)),
    'messages, as sent': Buffer.concat(payloads),
    'captures at the hub': Buffer.concat(
      await Promise.all(captures.captures.map(({ id }) => http(`${hub.interface.url}${own}/captures/${id}`))),
    ),
    'fault codes at the hub': await http(`${hub.interface.url}${own}/faults`),
    'telemetry at the hub': await http(`${hub.interface.url}${fleet}/telemetry?pageSize=2000`),
    'custom signals at the hub': Buffer.concat(
      await Promise.all(
        ['', '/Vehicle.Torque/history'].map((path) => http(`${hub.interface.url}${own}/signals${path}`)),
      ),
    ),
    'Status at the hub': await http(`${hub.interface.url}${fleet}/status`),
    'positions at the hub': await http(`${hub.interface.url}/vigie/v1/positions`),
    'metrics of the car': carMetrics,
    'metrics of the hub': await http(`http://${hub.metrics}/metrics`),
    'log of the car': Buffer.from(JSON.stringify(log.lines)),
    'log of the hub': Buffer.from(JSON.stringify(hubLog.lines)),
    'disk of the car': filesIn(data),
  };
  await hub.stop();
  outputs['disk of the hub'] = filesIn(join(folder, 'hub'));
  const leaks = Object.entries(outputs).flatMap(([name, content]) =>
    has(content, SECRET).map((form) => `${name}: ${form}`),
  );
  expect(leaks).toEqual([]);
  expect(new Set(messages.map(({ kind }) => kind))).toEqual(
    new Set([
      'alert',
      'trip',
      'hello',
      'status',
      'telemetry',
      'waypoint',
      'catalog',
      'collision',
      'capture',
      'fault',
      'vehicle',
    ]),
  );
  // The search finds the values that are allowed.
  for (const name of [
    'messages, decoded',
    'captures at the hub',
    'fault codes at the hub',
    'telemetry at the hub',
    'custom signals at the hub',
    'Status at the hub',
    'positions at the hub',
  ]) {
    expect([name, has(outputs[name] as Buffer, OPEN).length > 0]).toEqual([name, true]);
  }
});
