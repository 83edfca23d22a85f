/** Custom signals over HTTP, from a real agent through a real server. */
import { request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import type { Gate } from '../../../adapters/http/access/credentials.ts';
import { LocalGate } from '../../../adapters/http/access/local.ts';
import type { SignalView } from '../../../agent/signals/view.ts';
import type { CustomSignal } from '../../../protocol/profile.ts';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { custom, type Run, run, text } from '../../agent/signals/car.ts';
import { type Rig, startRig } from './rig.ts';

const start = Date.UTC(2026, 0, 1, 12);
const voltage = custom('Vehicle.Battery.Voltage', { unit: 'V', resolution: 0.1, timeout: 5_000 });
const state = custom('Vehicle.State', { kind: 'enumeration', names: [{ count: 0, name: 'Off' }] });
const place = custom('Vehicle.Place', { position: true });
const all = [voltage, state, place];

async function served(
  signals: readonly CustomSignal[] = all,
  gate: Gate = new LocalGate(),
): Promise<Run & { rig: Rig }> {
  const car = await run(signals);
  onTestFinished(() => car.drop());
  return { ...car, rig: await startRig({ signals: viewOf(car), clock: car.clock, gates: { fleet: gate } }) };
}

function viewOf({ agent }: Run): SignalView {
  const view = agent.signals?.view;
  if (view === undefined) throw new Error('the car has no custom signals');
  return view;
}

test('all signals are listed in the order of the profile, with description and value', async () => {
  const { rig, give, pass } = await served();
  give({ 'Vehicle.Battery.Voltage': 123, 'Vehicle.State': 0 });
  await pass(6_000);
  const { status, json } = await rig.get('/vigie/v1/signals');
  expect(status).toBe(200);
  const changedAt = '2026-01-01T12:00:00.000Z';
  expect(json).toEqual({
    signals: [
      {
        name: 'Vehicle.Battery.Voltage',
        kind: 'quantity',
        unit: 'V',
        resolution: 0.1,
        value: 12.3,
        changedAt,
        stale: true,
      },
      { name: 'Vehicle.State', kind: 'enumeration', names: ['Off'], value: 'Off', changedAt, stale: false },
      { name: 'Vehicle.Place', kind: 'quantity', resolution: 1 },
    ],
  });
});

test('one signal is read by its name, and an unknown name is refused with a suggestion', async () => {
  const { rig, give } = await served();
  give({ 'Vehicle.State': 7 });
  expect((await rig.get('/vigie/v1/signals/Vehicle.State')).json).toMatchObject({ name: 'Vehicle.State', value: 7 });
  const { status, text } = await rig.get('/vigie/v1/signals/Vehicle.Stat');
  expect(status).toBe(404);
  expect(text).toContain('Vehicle.State');
});

test('the history has the records of a period, also from an earlier profile, and reports whether there are more', async () => {
  const old = await run([custom('Vehicle.Battery.Voltage', { resolution: 0.5 })], { connected: false });
  for (let i = 1; i <= 3; i++) {
    old.give({ 'Vehicle.Battery.Voltage': i });
    await old.pass(1_000);
  }
  await old.pass(4_000);
  await old.drop();
  const disk = new RecordedDisk(old.disk.after(old.disk.moments, (most) => most));
  const car = await run(all, { disk, at: old.clock.now(), boot: 2 });
  onTestFinished(() => car.drop());
  car.give({ 'Vehicle.Battery.Voltage': 40 });
  await car.pass(5_000);
  const rig = await startRig({ signals: viewOf(car), clock: car.clock });
  const path = '/vigie/v1/signals/Vehicle.Battery.Voltage/history';
  const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();
  const readings = [
    { at: at(0), value: 0.5 },
    { at: at(1), value: 1 },
    { at: at(2), value: 1.5 },
    { at: at(7), value: 4 },
  ];
  const head = { name: 'Vehicle.Battery.Voltage', unit: 'V' };
  expect((await rig.get(path)).json).toEqual({ ...head, readings, more: false });
  expect((await rig.get(`${path}?limit=2`)).json).toEqual({ ...head, readings: readings.slice(0, 2), more: true });
  const part = `${path}?from=${at(1)}&to=${at(7)}`;
  expect((await rig.get(part)).json).toEqual({ ...head, readings: readings.slice(1, 3), more: false });
});

test('the history includes unsent records, each reading once, with the times that are sent', async () => {
  const rough = custom('Vehicle.Rough', { rule: { interval: 0, deadBand: 0, heartbeat: 60_000, resolution: 100 } });
  const { rig, give, pass, published } = await served([...all, rough]);
  const path = '/vigie/v1/signals/Vehicle.Rough/history';
  const values = async () => (await rig.get(path)).json;
  const at = (ms: number) => new Date(start + ms).toISOString();
  const sent = () => published.filter(({ message }) => message.kind === 'telemetry').length;
  give({ 'Vehicle.Rough': 1 });
  await pass(30);
  give({ 'Vehicle.Rough': 2 });
  await pass(40);
  give({ 'Vehicle.Rough': 3, 'Vehicle.Battery.Voltage': 5 });
  // A period excludes its end, so the last hour excludes the current time.
  await pass(10);
  const first = [0, 0, 100].map((ms, i) => ({ at: at(ms), value: i + 1 }));
  const whole = `${path}?from=${at(0)}&to=${at(60_000)}`;
  expect(sent()).toBe(0);
  expect((await rig.get(whole)).json).toEqual({ name: 'Vehicle.Rough', readings: first, more: false });
  expect((await rig.get(`${path}?from=${at(1)}&to=${at(100)}`)).json).toMatchObject({ readings: [] });
  await pass(4_000);
  give({ 'Vehicle.Rough': 4 });
  await pass(1_000);
  expect(sent()).toBe(1);
  expect(await values()).toMatchObject({ readings: [...first, { at: at(4_100), value: 4 }] });
});

test('a text is listed after the numbers, and its history has all its values', async () => {
  const car = await run(all, { texts: [text('Vehicle.Part', { timeout: 2_000 })] });
  onTestFinished(() => car.drop());
  const rig = await startRig({ signals: viewOf(car), clock: car.clock });
  const part = (await rig.get('/vigie/v1/signals/Vehicle.Part')).json;
  expect(part).toEqual({ name: 'Vehicle.Part', kind: 'text' });
  car.say({ 'Vehicle.Part': 'A' });
  await car.pass(1_000);
  car.say({ 'Vehicle.Part': 'B' });
  await car.pass(3_000);
  const { json } = await rig.get('/vigie/v1/signals');
  const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();
  expect((json as { signals: unknown[] }).signals[3]).toEqual({
    name: 'Vehicle.Part',
    kind: 'text',
    value: 'B',
    changedAt: at(1),
    stale: true,
  });
  expect((await rig.get('/vigie/v1/signals/Vehicle.Part/history')).json).toEqual({
    name: 'Vehicle.Part',
    readings: [
      { at: at(0), value: 'A' },
      { at: at(1), value: 'B' },
    ],
    more: false,
  });
});

test.each([
  ['from=yesterday', 'must be a moment'],
  ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'must not be later than'],
  ['limit=0', 'must be a whole number from 1 to 10000'],
  ['since=2026-01-02T00:00:00Z', 'there is no such parameter'],
])('history with %s is refused with an explanation', async (query, fault) => {
  const { rig } = await served();
  const { status, text } = await rig.get(`/vigie/v1/signals/Vehicle.State/history?${query}`);
  expect(status).toBe(400);
  expect(text).toContain(fault);
});

test.each(['signals?limit=-1', 'signals/Vehicle.State?limit=1', 'live?name=Vehicle.State'])(
  '%s has an unknown parameter and is refused',
  async (address) => {
    const { rig } = await served();
    const { status, text } = await rig.get(`/vigie/v1/${address}`);
    expect(status).toBe(400);
    expect(text).toContain('there is no such parameter: remove it');
  },
);

test('a stream begins with the known values and continues with changes', async () => {
  const { rig, give, pass } = await served();
  give({ 'Vehicle.Battery.Voltage': 120 });
  const { body, statusCode } = await request(`${rig.url}/vigie/v1/live`);
  expect(statusCode).toBe(200);
  onTestFinished(() => void body.on('error', () => undefined).destroy());
  const chunks = body[Symbol.asyncIterator]();
  let text = '';
  const until = async (wanted: string): Promise<void> => {
    while (!text.includes(wanted)) text += Buffer.from((await chunks.next()).value as Uint8Array).toString();
  };
  await until('"value":12,');
  give({ 'Vehicle.Battery.Voltage': 125 });
  await pass(100);
  await until(
    'event: change\ndata: {"name":"Vehicle.Battery.Voltage","at":"2026-01-01T12:00:00.000Z","value":12.5,"stale":false}',
  );
});

test('a user without access to positions sees every signal except those with the position', async () => {
  const gate: Gate = {
    challenge: 'Bearer',
    admit: () => ({ name: 'reader', scopes: new Set(['data:telemetry']) }),
  };
  const { rig, give } = await served(all, gate);
  give({ 'Vehicle.State': 0, 'Vehicle.Place': 1 });
  const { json } = await rig.get('/vigie/v1/signals');
  expect((json as { signals: { name: string }[] }).signals.map(({ name }) => name)).toEqual([
    'Vehicle.Battery.Voltage',
    'Vehicle.State',
  ]);
  expect((await rig.get('/vigie/v1/signals/Vehicle.Place')).status).toBe(403);
  expect((await rig.get('/vigie/v1/signals/Vehicle.Place/history')).status).toBe(403);
});

test('a server of a car without custom signals has no such route', async () => {
  const rig = await startRig();
  expect((await rig.get('/vigie/v1/signals')).status).toBe(404);
});

test('other methods are refused with the allowed ones', async () => {
  const { rig } = await served();
  const { status, headers } = await rig.send('POST', '/vigie/v1/signals');
  expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
});
