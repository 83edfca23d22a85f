/** Monitors of custom signals: from a profile, a DBC and a recorded drive to events, and over HTTP. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { callbackChannels } from '../../adapters/callbacks/index.ts';
import { append, createBatch } from '../../adapters/can/frames.ts';
import { formatCandump, LogSource } from '../../adapters/can/log/index.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { capturesOf } from '../../assembly/captures.ts';
import { startCar } from '../../assembly/car.ts';
import { decoderFor, loadVehicle, type Vehicle } from '../../assembly/vehicle.ts';
import { unpackFrames } from '../../protocol/captures/capture.ts';
import type { Capture } from '../../protocol/schema/capture.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { readLog } from '../adapters/can/log/frames.ts';
import { fetchJson } from '../adapters/http/rig.ts';
import { type Run, run } from '../agent/signals/car.ts';
import { MemoryLog } from '../rig/log.ts';

const MAX = 'Vehicle.Powertrain.TractionBattery.CellVoltage.Max';
let folder: string;
let vehicle: Vehicle;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-signal-monitors-'));
  const file = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  file(
    'car.dbc',
    `VERSION ""
BU_: ECU
BO_ 256 BATTERY: 8 ECU
 SG_ CellMax : 0|16@1+ (0.001,0) [0|0] "V" ECU
 SG_ Mode : 16|2@1+ (1,0) [0|0] "" ECU
 SG_ Fan : 18|1@1+ (1,0) [0|0] "" ECU
VAL_ 256 Mode 0 "Eco" 1 "Sport" ;
`,
  );
  file(
    'profile.yaml',
    `profile: 1
name: cells
buses:
  - { name: can, dbc: [car.dbc] }
status: {}
signals:
  ${MAX}: { signal: BATTERY.CellMax, interval: 10s }
  Vehicle.Mode: { signal: BATTERY.Mode }
  Vehicle.Fan: { signal: BATTERY.Fan }
captures:
  monitors:
    over: { before: 4s, after: 2s }
`,
  );
  vehicle = loadVehicle(join(folder, 'profile.yaml'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface CellReading {
  /** UTC ms */
  readonly at: number;
  readonly volts: number;
}

/** A drive whose highest cell exceeds 4.15 V several times. No reading repeats the previous one. */
function drive(from: number): CellReading[] {
  return Array.from({ length: 600 }, (_, i) => {
    const millivolts = 4_120 + Math.round(60 * Math.sin(i / 40)) + ((i * 7) % 13);
    return { at: from + i * 100, volts: millivolts / 1000 };
  }).filter(({ volts }, i, all) => volts !== all[i - 1]?.volts);
}

function logOf(readings: readonly CellReading[]): string {
  const path = join(folder, `drive-${readings[0]?.at}.log`);
  const lines = readings.map(({ at, volts }) => {
    const raw = Math.round(volts * 1000);
    const bytes = [raw & 0xff, raw >> 8, 0, 0, 0, 0, 0, 0];
    return `(${(at / 1000).toFixed(6)}) can0 100#${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  });
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

async function replay({ agent, clock }: Run, path: string): Promise<void> {
  const source = new LogSource(path, { clock, speed: Number.POSITIVE_INFINITY });
  await source.start(agent.intake(() => decoderFor(vehicle, agent.wanted, source.buses), source));
  await source.finished;
}

function monitorOf(data: object, more: object = {}): object {
  const triggers = [{ name: 't', data, ...more }];
  return { label: 'cell', triggerParam: { triggers, boolExp: 't' } };
}

/** Readings at which the voltage rises above 4.15 V, with re-arming at 4.13 V, by a simple pass. */
function crossings(readings: readonly CellReading[]): CellReading[] {
  let above = false;
  return readings.filter(({ volts }) => {
    const before = above;
    above = above ? volts > 4.13 : volts > 4.15;
    return above && !before;
  });
}

function eventsOf({ published }: Run, id: string): MonitorEvent[] {
  return published.flatMap(({ message }) =>
    message.kind === 'event' && message.body.monitorId === id ? [message.body] : [],
  );
}

test('a cell voltage monitor fires at the right readings of a replayed drive, and a restart loses no event', async () => {
  const signals = vehicle.profile.signals ?? [];
  const offline = await run(signals, { profile: vehicle.profile, connected: false });
  const over = { data: `signal.${MAX}`, op: 'greaterThan', value: ['4.15'], hysteresis: 0.02 };
  await offline.agent.monitors.put('over', monitorOf(over));
  await offline.agent.monitors.put('held', monitorOf({ ...over, hysteresis: 0 }, { holdFor: 3 }));
  const readings = drive(offline.clock.now());
  await replay(offline, logOf(readings));
  await offline.pass(2_000);
  expect(offline.published).toEqual([]);
  await offline.drop();

  const { disk } = offline;
  const at = (readings.at(-1) as CellReading).at + 10_000;
  const online = await run(signals, { profile: vehicle.profile, disk, at, boot: 2 });
  await online.pass(3_000);
  const expected = crossings(readings);
  expect(expected.length).toBeGreaterThan(1);
  expect(eventsOf(online, 'over').map(({ at, values }) => ({ at, values }))).toEqual(
    expected.map(({ at, volts }) => ({ at, values: [{ data: 'signal', signal: MAX, literal: `${volts}` }] })),
  );
  const held = eventsOf(online, 'held');
  expect(held.length).toBeGreaterThan(0);
  for (const { at, values } of held) {
    // The wait had ended before the reading of that time, so the event has the previous reading.
    const last = readings.findLastIndex((reading) => reading.at < at);
    const since = readings.findLastIndex(({ volts }, i) => i <= last && volts <= 4.15) + 1;
    expect(at - (readings[since] as CellReading).at).toBeGreaterThanOrEqual(3_000);
    expect(values).toEqual([{ data: 'signal', signal: MAX, literal: `${(readings[last] as CellReading).volts}` }]);
  }

  // The monitor continues with its state: in this drive the voltage first falls and then rises once more.
  const before = eventsOf(online, 'over').length;
  const again = [4.2, 4.14, 4.12, 4.149, 4.16].map((volts, i) => ({ at: online.clock.now() + i * 100, volts }));
  await replay(online, logOf(again));
  await online.pass(2_000);
  const added = eventsOf(online, 'over').slice(before);
  const wasAbove = (readings.at(-1) as CellReading).volts > 4.13;
  expect(added.map(({ at }) => at)).toEqual([...(wasAbove ? [] : [again[0]?.at]), again[4]?.at]);
  await online.drop();
});

/** Frames of a capture as lines of a candump log, in the order of its parts. */
function linesOf(parts: readonly Capture[]): string[] {
  return [...parts]
    .sort((a, b) => a.part - b.part)
    .flatMap((part) => {
      const frames = unpackFrames(part);
      return Array.from({ length: frames.count }, (_, i) => formatCandump(frames, i, part.buses));
    });
}

test('a cell voltage monitor fires with a capture of exactly the logged frames around the event', async () => {
  const signals = vehicle.profile.signals ?? [];
  const car = await run(signals, { profile: vehicle.profile, ...(await capturesOf(vehicle)) });
  onTestFinished(() => car.drop());
  const over = { data: `signal.${MAX}`, op: 'greaterThan', value: ['4.15'], hysteresis: 0.02 };
  await car.agent.monitors.put('over', monitorOf(over));
  const readings = drive(car.clock.now());
  // Frames that no DBC describes arrive between those of the battery.
  const lines = readFileSync(logOf(readings), 'utf8')
    .trim()
    .split('\n')
    .flatMap((line, i) => {
      const at = (readings[i] as CellReading).at + 0.125;
      return [line, `(${(at / 1000).toFixed(6)}) can0 18FEF100#${i.toString(16).padStart(4, '0')}`];
    })
    .map((line) => line.toUpperCase().replace('CAN0', 'can0'));
  const path = join(folder, 'cells.log');
  writeFileSync(path, `${lines.join('\n')}\n`);
  const buses = ['can0'];
  const take = car.agent.intake(() => decoderFor(vehicle, car.agent.wanted, buses), { buses });
  for (const { at, id, flags, data, length } of (await readLog(path)).frames) {
    const batch = createBatch(1, 8);
    append(batch, at, id, 0, flags, Buffer.from(data, 'hex'), length);
    if (at > car.clock.now()) await car.pass(at - car.clock.now());
    take(batch);
  }
  await car.pass(4_000);

  const events = eventsOf(car, 'over');
  expect(events.map(({ at }) => at)).toEqual(crossings(readings).map(({ at }) => at));
  expect(events.length).toBeGreaterThan(1);
  const captured = car.published.flatMap(({ message }) => (message.kind === 'capture' ? [message.body] : []));
  expect(new Set(captured.map(({ of }) => of))).toEqual(new Set(events.map(({ id }) => id)));
  const atOf = (line: string): number => Number(line.slice(1, line.indexOf(')'))) * 1000;
  for (const { id, at } of events) {
    const around = lines.filter((line) => atOf(line) >= at - 4_000 && atOf(line) <= at + 2_000);
    expect(around.length).toBeGreaterThan(70);
    expect(linesOf(captured.filter(({ of }) => of === id))).toEqual(around);
  }
});

test('custom signals are evaluated for monitors only while a monitor names one', async () => {
  const car = await run(vehicle.profile.signals ?? [], { profile: vehicle.profile });
  onTestFinished(() => car.drop());
  const { signals } = car.agent.signals as unknown as { readonly signals: { readonly watchers: number } };
  const idle = signals.watchers;
  await car.agent.monitors.put('mode', monitorOf({ data: 'signal.Vehicle.Mode', op: 'onChange' }));
  await car.agent.monitors.put('fan', monitorOf({ data: 'signal.Vehicle.Fan', op: 'onChange' }));
  expect(signals.watchers).toBe(idle + 1);
  await car.agent.monitors.remove('mode');
  await car.agent.monitors.setStatus('fan', 'Paused');
  expect(signals.watchers).toBe(idle);
});

test('a monitor whose signal is removed from the profile stays, reports it, and continues when the signal returns', async () => {
  const signals = vehicle.profile.signals ?? [];
  const first = await run(signals, { profile: vehicle.profile });
  await first.agent.monitors.put('mode', monitorOf({ data: 'signal.Vehicle.Mode', op: 'equalsTo', value: ['Sport'] }));
  const { disk } = first;
  await first.drop();
  const without = await run(
    signals.filter(({ name }) => name !== 'Vehicle.Mode'),
    { profile: vehicle.profile, disk, boot: 2 },
  );
  expect(without.agent.monitors.get('mode')?.status).toBe('Running');
  expect(without.log.lines).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      event: 'monitors.signals',
      fields: expect.objectContaining({ id: 'mode', error: expect.stringContaining('no custom signal Vehicle.Mode') }),
    }),
  );
  await without.pass(1_500);
  await without.drop();
  const back = await run(signals, { profile: vehicle.profile, disk, boot: 3 });
  back.give({ Mode: 1 });
  await back.pass(1_500);
  expect(eventsOf(back, 'mode').map(({ values }) => values)).toEqual([
    [{ data: 'signal', signal: 'Vehicle.Mode', literal: 'Sport' }],
  ]);
  await back.drop();
});

test('over HTTP a monitor can name a custom signal, and unknown signals and wrong operators are refused by name', async () => {
  const clock = new SystemClock();
  const car = await startCar({
    vin: 'VF3EXAMPLECAR0001',
    vehicle,
    data: join(folder, 'records'),
    sources: [],
    settings: agentSettings(),
    notificationChannels: callbackChannels({ networks: [], allowHttp: false, now: () => clock.now() }),
    http: { local: true, port: 0 },
    log: new MemoryLog(),
    clock,
  });
  onTestFinished(() => car.stop());
  const { url = '' } = car.interface ?? {};
  const { json: fleets } = await fetchJson(`${url}/connectedcar/v3/fleets`, {});
  const id = (fleets as { _embedded: { fleets: { id: string }[] } })._embedded.fleets[0]?.id;
  const monitors = `${url}/connectedcar/v3/fleets/${id}/monitors`;
  const post = async (data: object) => {
    const webhook = { name: 'n', target: 'https://receiver.example/' };
    const body = { ...monitorOf(data), subscribeParam: { callback: { webhook } } };
    const headers = { 'content-type': 'application/json' };
    const { status, json } = await fetchJson(monitors, { method: 'POST', headers, body: JSON.stringify(body) });
    return { ...(json as { message?: string; monitorId?: string }), status };
  };
  const fits = [
    { data: `signal.${MAX}`, op: 'greaterThan', value: ['4.15'], hysteresis: 0.02 },
    { data: 'signal.Vehicle.Mode', op: 'includedIn', value: ['Sport', '2'] },
    { data: 'signal.Vehicle.Mode', op: 'onChange', previous: { op: 'equalsTo', value: ['Eco'] } },
    { data: 'signal.Vehicle.Fan', op: 'equalsTo', value: ['true'] },
  ];
  for (const data of fits) {
    const made = await post(data);
    expect(made).toMatchObject({ status: 202 });
    const { json } = await fetchJson(`${monitors}/${made.monitorId}`, {});
    const { triggers } = (json as { monitor: { triggerParam: { triggers: object[] } } }).monitor.triggerParam;
    expect(triggers).toEqual([{ name: 't', data }]);
  }
  const refusals = [
    [{ ...fits[0], data: 'signal.Vehicle.Powertrain.TractionBattery.CellVoltage.Mx' }, `did you mean signal.${MAX}?`],
    [{ ...fits[0], op: 'onChange', value: [] }, 'must be one of equalsTo, greaterThan, lowerThan, is onChange'],
    [{ ...fits[0], value: ['high'] }, 'must be a number, is "high"'],
    [{ ...fits[1], op: 'greaterThan' }, 'must be one of onChange, equalsTo, includedIn, is greaterThan'],
    [{ ...fits[1], value: ['Spot'] }, 'must be one of Eco, Sport, a whole number that has no name, is "Spot"'],
    [{ ...fits[1], value: ['1'] }, 'must be one of Eco, Sport, a whole number that has no name, is "1"'],
    [{ ...fits[3], op: 'includedIn' }, 'must be one of onChange, equalsTo, is includedIn'],
  ] as const;
  for (const [data, message] of refusals) {
    expect(await post(data)).toMatchObject({ status: 400, message: expect.stringContaining(message) });
  }
});
