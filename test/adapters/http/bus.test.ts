/** Streams the frames of the buses from the source of a real agent to a reader. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Dispatcher, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { keysOfSet } from '../../../adapters/http/access/token-keys.ts';
import { UserGate } from '../../../adapters/http/access/user.ts';
import { Snapshots } from '../../../adapters/http/snapshots.ts';
import { memoryOutboxStore } from '../../../adapters/store/index.ts';
import { Status } from '../../../agent/model/status.ts';
import type { FrameBatch } from '../../../agent/ports.ts';
import { Requests } from '../../../agent/remotes/requests.ts';
import { startCar } from '../../../assembly/car.ts';
import { FrameTap } from '../../../assembly/frame-tap.ts';
import { ownViewOf } from '../../../assembly/own-view.ts';
import { loadVehicle } from '../../../assembly/vehicle.ts';
import type { BusFrames, BusIdentifiers, BusPrivacy, BusValues } from '../../../protocol/interface/own/bus.ts';
import { type Slot, slotByPath } from '../../../protocol/slots.ts';
import { MemoryLog } from '../../rig/log.ts';
import { batchOf, bytes } from '../can/dbc/frames.ts';
import { startRig } from './rig.ts';

const VIN = 'VF3VGEBUS00000001';
const BUS = '/vigie/v1/bus';
/** config/vehicles/bench/bench.dbc: BO_ 168 MOTION, BO_ 840 MODES with Privacy in bits 4 and 5, BO_ 848 TYRES. */
const MOTION = 168;
const MODES = 840;
const TYRES = 848;
const NONE = '00 00';
const FULL = '20 00';
const GEOLOCATION = '10 00';

interface Events {
  /** Returns the data of the next event with this name, and skips other events. */
  next<T>(name: string): Promise<T>;
  /** Returns everything received. */
  text(): string;
  close(): void;
}

/** The vehicle of the bench with a long timeout for the privacy setting, so that a slow machine does not expire it. */
function vehicleWithPrivacy() {
  const vehicle = loadVehicle('bench');
  const sources = vehicle.profile.sources.map((source) =>
    source.path === 'privacy.state' ? { ...source, timeout: 86_400_000 } : source,
  );
  return { ...vehicle, profile: { ...vehicle.profile, sources } };
}

/** A car with the bench's profile. The test sends its frames. */
async function drivenCar(): Promise<{ url: string; send(...frames: (readonly [id: number, data: string])[]): void }> {
  const data = mkdtempSync(join(tmpdir(), 'vigie-bus-'));
  let receive: (batch: FrameBatch) => void = () => undefined;
  const source = {
    buses: ['body'],
    start: async (given: (batch: FrameBatch) => void) => {
      receive = given;
    },
    stop: async () => undefined,
  };
  const car = await startCar({
    vin: VIN,
    vehicle: vehicleWithPrivacy(),
    data,
    sources: [source],
    log: new MemoryLog(),
    http: { local: true, port: 0 },
    clock: new SystemClock(),
  });
  onTestFinished(async () => {
    await car.stop();
    rmSync(data, { recursive: true, force: true });
  });
  return {
    url: car.interface?.url ?? '',
    send: (...frames) =>
      receive(batchOf(frames.map(([id, text]) => ({ id, data: bytes(text.replaceAll(' ', '')), at: Date.now() })))),
  };
}

async function follow(url: string, headers: Record<string, string> = {}): Promise<Events> {
  const { statusCode, body } = await request(url, { headers });
  if (statusCode !== 200) throw new Error(`${statusCode} ${await body.text()}`);
  return eventsOf(body);
}

function eventsOf(body: Dispatcher.ResponseData['body']): Events {
  body.on('error', () => undefined);
  const chunks = body[Symbol.asyncIterator]();
  let text = '';
  let rest = '';
  const next = async <T>(name: string): Promise<T> => {
    for (;;) {
      const [event, ...later] = rest.split('\n\n');
      if (later.length === 0) {
        const { done, value } = await chunks.next();
        if (done === true) throw new Error(`the stream ended before ${name}: ${text}`);
        text += String(value);
        rest += String(value);
        continue;
      }
      rest = later.join('\n\n');
      const found = new RegExp(`^event: ${name}\\ndata: (.*)$`).exec(event ?? '');
      if (found !== null) return JSON.parse(found[1] as string) as T;
    }
  };
  const events = { next, text: () => text, close: () => void body.destroy() };
  onTestFinished(events.close);
  return events;
}

test('a stream contains each identifier with its message, then count, length, bytes and changed bits', async () => {
  const { url, send } = await drivenCar();
  send([MODES, NONE]);
  const events = await follow(`${url}${BUS}`);
  expect(await events.next<BusPrivacy>('privacy')).toEqual({ shown: true });
  expect(await events.next<BusIdentifiers>('identifiers')).toEqual({ anew: true, identifiers: [] });
  send([MOTION, '0D EA 00 00 00 00 00 00'], [0x7ff, '01 02']);
  const { anew, identifiers } = await events.next<BusIdentifiers>('identifiers');
  expect([anew, identifiers.length]).toEqual([false, 2]);
  expect(identifiers[0]).toMatchObject({
    key: 0,
    bus: 'body',
    id: 0xa8,
    extended: false,
    message: 'MOTION',
    sender: 'ESP',
    every: 20,
  });
  // SG_ Acceleration : 23|12@0- (0.01,0): the lowest bit of the value is bit 4 of byte 3.
  expect(identifiers[0]?.signals.find(({ name }) => name === 'Acceleration')).toEqual({
    name: 'Acceleration',
    unit: 'm/s2',
    factor: 0.01,
    offset: 0,
    comment: 'Along the vehicle',
    choices: [{ raw: -2048, name: 'SNA' }],
    bits: [28, 29, 30, 31, 16, 17, 18, 19, 20, 21, 22, 23],
  });
  expect(identifiers[1]).toEqual({ key: 1, bus: 'body', id: 0x7ff, extended: false, signals: [] });
  expect((await events.next<BusFrames>('frames')).frames).toEqual([
    { key: 0, count: 1, length: 8, data: '0dea000000000000', changed: '0000000000000000' },
    { key: 1, count: 1, length: 2, data: '0102', changed: '0000' },
  ]);
  send([MOTION, '0D EB 00 00 00 00 00 01']);
  expect((await events.next<BusFrames>('frames')).frames).toEqual([
    { key: 0, count: 2, period: expect.any(Number), length: 8, data: '0deb000000000001', changed: '0001000000000001' },
  ]);
});

test.each([
  ['Full', FULL],
  ['Geolocation', GEOLOCATION],
])(
  'in %s privacy a stream contains only the reason, also for frames of the batch that ends privacy',
  async (state, chosen) => {
    const { url, send } = await drivenCar();
    send([MODES, NONE]);
    const events = await follow(`${url}${BUS}`);
    const values = await follow(`${url}${BUS}/signals?signal=body/0A8/Speed`);
    await events.next('identifiers');
    send([MOTION, '11 00 00 00 00 00 00 00']);
    await events.next('frames');
    await values.next('values');
    send([MOTION, '22 00 00 00 00 00 00 00'], [MODES, chosen]);
    const hidden = { shown: false, reason: `The driver chose ${state} privacy, so the car sends no frames.` };
    expect(await events.next<BusPrivacy>('privacy')).toEqual(hidden);
    expect(await values.next<BusPrivacy>('privacy')).toEqual(hidden);
    const late = await follow(`${url}${BUS}`);
    expect(await late.next<BusPrivacy>('privacy')).toEqual(hidden);
    send([MOTION, '33 00 00 00 00 00 00 00']);
    send([MOTION, '44 00 00 00 00 00 00 00'], [MODES, NONE]);
    for (const one of [events, values]) expect(await one.next<BusPrivacy>('privacy')).toEqual({ shown: true });
    send([MOTION, '55 00 00 00 00 00 00 00']);
    const shown = [{ key: 0, count: 1, length: 8, data: '5500000000000000', changed: '0000000000000000' }];
    for (const one of [events, late]) {
      expect((await one.next<BusFrames>('frames')).frames).toEqual(shown);
      expect(one.text()).not.toMatch(/"data":"(22|33|44)/);
    }
    // 0x5500 × 0.01 km/h
    expect((await values.next<BusValues>('values')).values).toEqual([
      { signal: 0, at: expect.any(Number), value: 217.6 },
    ]);
    expect(events.text().match(/"anew":true/g)).toHaveLength(2);
  },
);

test('without a known privacy choice the stream contains no frames, and the reason', async () => {
  const { url, send } = await drivenCar();
  const events = await follow(`${url}${BUS}`);
  expect(await events.next<BusPrivacy>('privacy')).toEqual({
    shown: false,
    reason: 'The car does not say which privacy the driver chose, so it sends no frames.',
  });
  send([MOTION, '11 00 00 00 00 00 00 00']);
  send([MODES, NONE]);
  expect(await events.next<BusPrivacy>('privacy')).toEqual({ shown: true });
  expect(events.text()).not.toContain('event: frames');
});

test('an outdated privacy choice hides the frames, and a profile without privacy shows them', async () => {
  const status = new Status();
  const privacy = slotByPath.get('privacy.state') as Slot;
  const vehicle = loadVehicle('bench');
  const rig = async (profile: typeof vehicle.profile): Promise<Events> => {
    const view = viewOf(new FrameTap(), status, { ...vehicle, profile });
    const snapshots = new Snapshots(new SystemClock());
    onTestFinished(() => snapshots.close());
    const { url } = await startRig({ own: { view, snapshots } });
    return follow(`${url}${BUS}`);
  };
  const none = { ...vehicle.profile, sources: [] };
  expect(await (await rig(none)).next<BusPrivacy>('privacy')).toEqual({ shown: true });
  status.expireAfter(privacy, 1_000);
  status.write(privacy, 'None', Date.now() - 60_000);
  for (const profile of [vehicle.profile, none]) {
    expect((await (await rig(profile)).next<BusPrivacy>('privacy')).shown).toBe(false);
  }
  status.write(privacy, 'None', Date.now() + 600_000);
  expect((await (await rig(vehicle.profile)).next<BusPrivacy>('privacy')).shown).toBe(false);
});

function viewOf(tap: FrameTap, status = new Status(), vehicle = loadVehicle('bench')) {
  const clock = new SystemClock();
  const requests = new Requests({ vin: VIN, clock, receive: async () => undefined });
  return ownViewOf({
    vin: VIN,
    vehicle,
    agent: { waiting: 0, status, requests },
    link: { connected: true },
    commands: true,
    clock,
    store: memoryOutboxStore(),
    tap,
  });
}

test('values come by the index of the signal in the request, for each multiplexor value, and invalid requests are refused', async () => {
  const { url, send } = await drivenCar();
  send([MODES, NONE]);
  const signals = ['body/0A8/Speed', 'body/350/PressureFL', 'body/350/PressureFR'];
  const events = await follow(
    `${url}${BUS}/signals?${signals.map((one) => `signal=${encodeURIComponent(one)}`).join('&')}`,
  );
  // Two wheels within one event: neither is lost.
  send([MOTION, '0D EA 00 00 00 00 00 00'], [TYRES, '00 78 40'], [TYRES, '01 79 40'], [0x7ff, '00']);
  const { values } = await events.next<BusValues>('values');
  expect(values).toEqual([
    { signal: 0, at: expect.any(Number), value: 35.62 },
    { signal: 1, at: expect.any(Number), value: 2.4 },
    { signal: 2, at: expect.any(Number), value: 2.42 },
  ]);
  for (const [query, named] of [
    ['', /given 1 to 64 times, is given 0 times/],
    ['?signal=Speed', /must be bus, identifier and signal/],
    ['?signal=body/0A9/Speed', /no DBC of the profile has identifier 0x0A9/],
    ['?signal=body/0A8/Sped', /message MOTION has no signal \S+Sped/],
    ['?sginal=body/0A8/Speed', /no such parameter: use signal/],
    [`?${'signal=body/0A8/Speed&'.repeat(65)}`, /is given 65 times/],
  ] as const) {
    const { statusCode, body } = await request(`${url}${BUS}/signals${query}`);
    expect([query.slice(0, 30), statusCode, await body.text()]).toEqual([
      query.slice(0, 30),
      400,
      expect.stringMatching(named),
    ]);
  }
});

test('without a reader the car examines no frame, and at most 16 readers are allowed', async () => {
  const tap = new FrameTap();
  const view = viewOf(tap);
  const snapshots = new Snapshots(new SystemClock());
  onTestFinished(() => snapshots.close());
  const rig = await startRig({ own: { view, snapshots } });
  const taken: FrameBatch[] = [];
  const receive = (batch: FrameBatch): void => {
    taken.push(batch);
    tap.take(batch, ['body']);
  };
  let looks = 0;
  const watched = new Proxy(batchOf([{ id: MOTION, data: bytes('00') }]), {
    get: (batch, name) => {
      looks++;
      return Reflect.get(batch, name);
    },
  });
  receive(watched);
  expect([taken.length, looks]).toEqual([1, 0]);
  const streams = [];
  for (let i = 0; i < 8; i++) {
    streams.push(await follow(`${rig.url}${BUS}`), await follow(`${rig.url}${BUS}/signals?signal=body/0A8/Speed`));
  }
  for (const path of [BUS, `${BUS}/signals?signal=body/0A8/Speed`]) expect((await rig.get(path)).status).toBe(429);
  for (const stream of streams) stream.close();
  await expect.poll(() => snapshots.streams, { timeout: 60_000 }).toBe(0);
  looks = 0;
  receive(watched);
  expect([taken.length, looks]).toEqual([2, 0]);
  expect((await rig.send('HEAD', BUS)).status).toBe(405);
  expect((await rig.send('POST', BUS, {})).status).toBe(405);
});

test('a user needs the scope of the bus, which no other scope includes', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = keysOfSet(JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }), 'keys');
  const clock = new SystemClock();
  const options = { issuer: 'https://issuer.example', audience: 'vigie', keys, timeKnown: () => true };
  const snapshots = new Snapshots(clock);
  onTestFinished(() => snapshots.close());
  const view = viewOf(new FrameTap());
  const rig = await startRig({ gates: { user: new UserGate(options, clock) }, own: { view, snapshots } });
  const token = (scope: string): Promise<string> =>
    new SignJWT({ scope })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer('https://issuer.example')
      .setAudience('vigie')
      .setSubject('somebody')
      .setExpirationTime('1h')
      .sign(privateKey);
  const all = { authorization: `Bearer ${await token('data:telemetry data:position data:trip')}` };
  for (const path of [BUS, `${BUS}/signals?signal=body/0A8/Speed`]) {
    expect([path, (await rig.get(path)).status]).toEqual([path, 401]);
    const { status, text } = await rig.get(path, all);
    expect([path, status, text]).toEqual([path, 403, expect.stringContaining('needs the scope data:bus')]);
  }
  const events = await follow(`${rig.url}${BUS}`, { authorization: `Bearer ${await token('data:bus')}` });
  expect((await events.next<BusPrivacy>('privacy')).shown).toBe(false);
});
