/** Configurations sent to a car: real files, a broker that is reachable or not, and virtual time. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PARKED_TRIAL_DAYS, TRIAL } from '../../agent/configuration/generations.ts';
import type { TrialSource } from '../../agent/configuration/trial.ts';
import { Configurations, type Unwritten } from '../../assembly/generation.ts';
import { digestOf, packFile } from '../../assembly/sent-files.ts';
import { DAY } from '../../protocol/calendar.ts';
import { encodeBody } from '../../protocol/command.ts';
import { VirtualClock } from '../rig/clock.ts';
import { MemoryLog } from '../rig/log.ts';

let folder: string;
let clock: VirtualClock;
let log: MemoryLog;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-generation-'));
  mkdirSync(join(folder, 'records'));
  clock = new VirtualClock();
  log = new MemoryLog();
  writeFileSync(join(folder, 'vigie.yaml'), text());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function text(level = 'info', vin = 'VF3SERVCECAR00001'): string {
  const rest =
    'profile: bench\ndata: ./records\ncan: [{ bus: body, simulated: true }]\nmqtt: { url: mqtt://localhost }\n';
  return `configuration: 1\nvin: ${vin}\n${rest}log: { level: ${level} }\n`;
}

const order = (configuration: string) => encodeBody('Configuration', { configuration });

/** A start of the agent. `unwritten` belongs to the process, so the same process passes it on. */
function open(unwritten: Unwritten = {}): Promise<Configurations> {
  const file = join(folder, 'vigie.yaml');
  const parts = { file, data: join(folder, 'records'), environment: {}, clock, log, unwritten };
  return Configurations.open({ ...parts, vin: 'VF3SERVCECAR00001' });
}

async function sent(level: string): Promise<void> {
  const before = await open();
  await before.choose();
  await before.agentCommand(order(text(level)), clock.now());
  await clock.settle(5_000, 1_000);
  await before.changed;
  before.close();
}

test('a sent configuration is tried, and stays once it has reached the broker', async () => {
  await sent('warn');
  const trying = await open();
  const { configuration } = await trying.choose();
  expect(configuration.log.level).toBe('warn');
  // Relative paths are relative to the file on the unit.
  expect(configuration.data).toBe(join(folder, 'records'));
  const digest = digestOf(order(text('warn')));
  expect(trying.hello).toEqual({ generation: 1, state: 'trial', digest });
  await trying.reached();
  expect(trying.hello).toEqual({ generation: 1, state: 'applied', digest });
  await clock.settle(TRIAL * 2, TRIAL);
  const later = await open();
  expect((await later.choose()).configuration.log.level).toBe('warn');
});

test('without the broker the last good configuration returns after ten minutes', async () => {
  await sent('warn');
  const good = await open();
  await good.choose();
  await good.reached();
  good.close();
  await sent('error');
  const trying = await open();
  expect((await trying.choose()).configuration.log.level).toBe('error');
  let over = false;
  void trying.changed.then(() => {
    over = true;
  });
  await clock.settle(TRIAL - 1_000, TRIAL / 4);
  expect(over).toBe(false);
  await clock.settle(1_000, 1_000);
  await trying.changed;
  const back = await open();
  expect((await back.choose()).configuration.log.level).toBe('warn');
  expect(back.hello).toMatchObject({ generation: 1, state: 'returned', digest: digestOf(order(text('error'))) });
  expect(back.hello.detail).toContain('not reached within 10 minutes');
});

test('a broker reached with the previous configuration proves nothing about the sent one', async () => {
  const before = await open();
  await before.choose();
  // The command waited at the broker: it arrives before the first acknowledgement.
  await before.agentCommand(order(text('warn')), clock.now());
  await before.reached();
  expect(before.trying).toBe(false);
  await clock.settle(5_000, 1_000);
  await before.changed;
  before.close();
  const trying = await open();
  expect((await trying.choose()).configuration.log.level).toBe('warn');
  expect(trying.trying).toBe(true);
  expect(trying.hello).toEqual({ generation: 1, state: 'trial', digest: digestOf(order(text('warn'))) });
  await clock.settle(TRIAL, TRIAL);
  await trying.changed;
  expect((await (await open()).choose()).configuration.log.level).toBe('info');
});

test('the time of a trial does not apply to another configuration sent meanwhile', async () => {
  await sent('warn');
  const trying = await open();
  await trying.choose();
  await clock.settle(TRIAL - 1_000, TRIAL / 4);
  await trying.agentCommand(order(text('error')), clock.now());
  await clock.settle(5_000, 1_000);
  await trying.changed;
  trying.close();
  expect(log.lines.map(({ event }) => event)).not.toContain('configuration.reverted');
  const next = await open();
  expect((await next.choose()).configuration.log.level).toBe('error');
  expect(next.hello).toEqual({ generation: 2, state: 'trial', digest: digestOf(order(text('error'))) });
});

test('the last good configuration returns even if the disk fails', async () => {
  await sent('warn');
  const process: Unwritten = {};
  const trying = await open(process);
  await trying.choose();
  // The temporary file of the document cannot be written.
  mkdirSync(join(folder, 'records', 'configuration.json.next'));
  await clock.settle(TRIAL, TRIAL);
  await trying.changed;
  const back = await open(process);
  expect((await back.choose()).configuration.log.level).toBe('info');
  expect(back.hello.state).toBe('returned');
  rmdirSync(join(folder, 'records', 'configuration.json.next'));
  await back.agentCommand(order(text('error')), clock.now());
  expect(process).toEqual({});
  expect((await (await open(process)).choose()).configuration.log.level).toBe('error');
});

test('starts that never reach the broker restore the last good configuration too', async () => {
  await sent('warn');
  for (let i = 0; i < 3; i++) {
    const crashing = await open();
    expect((await crashing.choose()).configuration.log.level).toBe('warn');
    crashing.close();
  }
  const back = await open();
  expect((await back.choose()).configuration.log.level).toBe('info');
  expect(back.hello.state).toBe('returned');
});

test('the minimal mode does not prove a configuration with which the agent crashed before it reached the broker', async () => {
  await sent('warn');
  const crashing = await open();
  await crashing.choose();
  crashing.close();
  const minimal = await open();
  expect((await minimal.choose('it was killed')).configuration.log.level).toBe('info');
  expect(minimal.hello).toMatchObject({ generation: 0, state: 'returned' });
  expect(minimal.hello.detail).toContain('did not stay up with it: it was killed');
  await minimal.reached();
  expect((await (await open()).choose()).configuration.log.level).toBe('info');
});

test('earlier crashes do not count for a configuration that has not been started', async () => {
  await sent('warn');
  const minimal = await open();
  expect((await minimal.choose('it was killed')).configuration.log.level).toBe('warn');
  minimal.close();
});

test('a faulty configuration is refused with all of its faults and changes nothing', async () => {
  const agent = await open();
  await agent.choose();
  for (const [wrong, why] of [
    [text('loud'), /level/],
    ['nonsense: [', /./],
    [`${text()}gnss: { nmea: 'usb:x' }\nmore: 1\n`, /more/],
    [text('warn', 'VF3SERVCECAR00002'), /vin and data cannot be changed/],
    [text('warn').replace('./records', '/elsewhere'), /vin and data cannot be changed/],
    [text('warn').replace('profile: bench', 'profile: nobody-has-this'), /nobody-has-this/],
  ] as const) {
    await expect(agent.agentCommand(order(wrong), 0)).rejects.toMatchObject({
      code: 'configuration.wrong',
      message: expect.stringMatching(why),
    });
  }
  expect(readdirSync(join(folder, 'records', 'configuration')).filter((name) => /^\d/.test(name))).toEqual([]);
  expect(agent.hello).toEqual({ generation: 0, state: 'local' });
});

test('the same configuration command after a power cut changes nothing more', async () => {
  await sent('warn');
  const trying = await open();
  await trying.choose();
  await trying.agentCommand(order(text('warn')), 0);
  expect(trying.hello.generation).toBe(1);
  expect(existsSync(join(folder, 'records', 'configuration', '2.yaml'))).toBe(false);
});

test('a file edited on the unit takes precedence, and its errors do not stop the car', async () => {
  await sent('warn');
  const good = await open();
  await good.choose();
  await good.reached();
  writeFileSync(join(folder, 'vigie.yaml'), text('error'));
  const changed = await open();
  expect((await changed.choose()).configuration.log.level).toBe('error');
  expect(changed.hello.state).toBe('superseded');
  await changed.reached();
  writeFileSync(join(folder, 'vigie.yaml'), 'vin: [');
  const broken = await open();
  expect((await broken.choose()).configuration.log.level).toBe('error');
  expect(log.lines.some(({ event }) => event === 'configuration.fallback')).toBe(true);
});

test('a file on the unit with errors does not replace a sent configuration', async () => {
  await sent('warn');
  const good = await open();
  await good.choose();
  await good.reached();
  writeFileSync(join(folder, 'vigie.yaml'), 'vin: [');
  const still = await open();
  expect((await still.choose()).configuration.log.level).toBe('warn');
  expect(still.hello.state).toBe('applied');
});

test('damaged state falls back to the file on the unit', async () => {
  writeFileSync(join(folder, 'records', 'configuration.json'), '{"crc32c":"00000000","data":{"good":7}}\n');
  const agent = await open();
  expect((await agent.choose()).configuration.log.level).toBe('info');
});

const wanting = (cert: string): string =>
  text().replace('mqtt://localhost', `mqtts://localhost, cert: ${cert}, key: ${cert}, ca: ${cert}`);

test('a configuration without its broker files runs, and each missing file is named', async () => {
  writeFileSync(join(folder, 'vigie.yaml'), wanting('gone.pem'));
  const { configuration, diagnostics } = await (await open()).choose();
  expect(configuration.mqtt.key).toBe(join(folder, 'gone.pem'));
  expect(diagnostics).toMatchObject(
    ['ca', 'cert', 'key'].map(() => ({
      severity: 'warning',
      message: expect.stringContaining('gone.pem cannot be read'),
    })),
  );
  expect(log.lines.some(({ level, event }) => level === 'error' && event === 'configuration.filesMissing')).toBe(true);
});

test('the last good configuration takes precedence over one that lacks broker files', async () => {
  const good = await open();
  await good.choose();
  await good.reached();
  good.close();
  writeFileSync(join(folder, 'vigie.yaml'), wanting('gone.pem'));
  expect((await (await open()).choose()).configuration.mqtt.url).toBe('mqtt://localhost');
});

test('a sent configuration that names a missing file is refused', async () => {
  const running = await open();
  await running.choose();
  await expect(running.agentCommand(order(wanting('gone.pem')), clock.now())).rejects.toMatchObject({
    code: 'configuration.wrong',
    message: expect.stringContaining('gone.pem cannot be read'),
  });
  running.close();
});

const profile = (title: string): string => `profile: 1
name: small
title: ${title}
buses: [{ name: body, dbc: [dbc/small.dbc] }]
status: { kinetic.speed: { signal: SPEEDS.Speed } }
`;
const dbc = (unit = 'km/h'): string => `VERSION ""

BU_: UNIT

BO_ 256 SPEEDS: 8 UNIT
 SG_ Speed : 0|16@1+ (0.01,0) [0|655] "${unit}" UNIT
`;
const withProfile = (): string => text().replace('profile: bench', 'profile: ./car/profile.yaml');
const bytesOf = (contents: string): Uint8Array => new TextEncoder().encode(contents);
const packed = (title: string, description = dbc()) => [
  packFile({ path: 'car/profile.yaml', contents: bytesOf(profile(title)) }),
  packFile({ path: 'car/dbc/small.dbc', contents: bytesOf(description) }),
];
const orderOf = (files: ReturnType<typeof packed>, configuration = withProfile()) =>
  encodeBody('Configuration', { configuration, files });

async function take(body: Uint8Array): Promise<void> {
  const before = await open();
  await before.choose();
  await before.agentCommand(body, clock.now());
  await clock.settle(5_000, 1_000);
  await before.changed;
  before.close();
}

test('a profile and its DBC arrive with a configuration, and are reverted with it', async () => {
  await take(orderOf(packed('First')));
  const first = await open();
  const chosen = await first.choose();
  expect(chosen.vehicle.profile.title).toBe('First');
  expect(chosen.configuration.profile).toBe(join(folder, 'records', 'configuration', '1', 'car', 'profile.yaml'));
  expect(await first.reached()).toBe(true);
  first.close();

  await take(orderOf(packed('Second')));
  const second = await open();
  expect((await second.choose()).vehicle.profile.title).toBe('Second');
  await clock.settle(TRIAL, TRIAL);
  await second.changed;
  const back = await open();
  expect((await back.choose()).vehicle.profile.title).toBe('First');
  expect(back.hello).toMatchObject({ state: 'returned', digest: digestOf(orderOf(packed('Second'))) });

  await take(orderOf(packed('Third')));
  const third = await open();
  await third.choose();
  await third.reached();
  const kept = readdirSync(join(folder, 'records', 'configuration')).filter((name) => name !== 'local.yaml');
  expect(kept.toSorted()).toEqual(['3', '3.yaml']);
});

const body = { kind: 'frames', name: 'body' } as const;
const source = { ...body, state: 'running', speaks: false, readings: 0 } as const;
const observed = { sources: [source], inUse: false, asleep: false, faults: {} };

/** A start with a sent configuration after one with which the bus delivered. The broker is reached. */
async function tried(first: Partial<TrialSource>): Promise<{ trying: Configurations; now: Partial<TrialSource> }> {
  const before = await open();
  await before.choose();
  await before.delivered(body);
  await sent('warn');
  const trying = await open();
  await trying.choose();
  const it = { trying, now: first };
  trying.attend(() => ({ ...observed, sources: [{ ...source, ...it.now }] }));
  expect(await trying.reached()).toBe(false);
  return it;
}

/** Looks once in a step of time. Returns whether a hello was to be sent. */
async function pass(trying: Configurations, ms: number, step = 1_000): Promise<boolean> {
  let isReported = false;
  for (let passed = 0; passed < ms; passed += step) {
    await clock.settle(step, step);
    isReported = (await trying.look()) || isReported;
  }
  return isReported;
}

test.each([
  ['the bus carries no signal of the profile', { speaks: true }, 'body carries data, but no signal of the profile'],
  ['the adapter does not exist', { state: 'waiting', reason: 'no such interface' } as const, 'no such interface'],
])(
  'the last good configuration returns after ten minutes if %s, although the broker is reached',
  async (_, now, why) => {
    const { trying } = await tried(now);
    expect(await pass(trying, TRIAL - 2_000)).toBe(true);
    expect(trying.hello).toMatchObject({ state: 'trial', detail: expect.stringContaining(why) });
    await pass(trying, 4_000);
    expect(await trying.changed).toBe('the last good configuration');
    expect(trying.hello).toMatchObject({ generation: 0, state: 'returned', detail: expect.stringContaining(why) });
  },
);

test('a parked car stays on trial until it is used, and then keeps the configuration that reads the bus', async () => {
  const it = await tried({});
  expect(await pass(it.trying, DAY, 600_000)).toBe(true);
  expect(it.trying.hello).toMatchObject({ state: 'trial', detail: expect.stringContaining('not in use') });
  it.now = { speaks: true, readings: 1 };
  expect(await it.trying.look()).toBe(true);
  expect(it.trying.hello).toMatchObject({ generation: 1, state: 'applied' });
  expect(it.trying.hello.detail).toBeUndefined();
});

test('a car that is parked for a week returns to the last good configuration', async () => {
  const { trying } = await tried({});
  await pass(trying, PARKED_TRIAL_DAYS * DAY, 600_000);
  expect(trying.hello).toMatchObject({ state: 'returned', detail: expect.stringContaining('within 7 days') });
});

test('a trial goes on after a power cut, with the sources of the last good configuration', async () => {
  const { trying } = await tried({});
  trying.close();
  const next = await open();
  await next.choose();
  next.attend(() => observed);
  await next.reached();
  expect(next.hello).toMatchObject({ generation: 1, state: 'trial' });
  next.close();
  const third = await open();
  await third.choose();
  third.close();
  const back = await open();
  await back.choose();
  expect(back.hello).toMatchObject({ generation: 0, state: 'returned' });
  expect(back.hello.detail).toContain('3 times without success');
});

test('an agent that runs in part proves nothing', async () => {
  await sent('warn');
  const trying = await open();
  await trying.choose();
  trying.attend(() => undefined);
  expect(await trying.reached()).toBe(false);
  expect(trying.hello.state).toBe('trial');
  trying.close();
});

test('a fault that the last good configuration had too is no reason to return', async () => {
  const before = await open();
  await before.choose();
  before.attend(() => ({ ...observed, faults: { interface: 'the port is taken' } }));
  await before.agentCommand(order(text('warn')), clock.now());
  await clock.settle(5_000, 1_000);
  before.close();
  const trying = await open();
  await trying.choose();
  const faults: Record<string, string> = { interface: 'the port is taken', trust: 'unreadable' };
  trying.attend(() => ({ ...observed, faults }));
  expect(await trying.reached()).toBe(false);
  delete faults['trust'];
  expect(await trying.look()).toBe(true);
  expect(trying.hello.state).toBe('applied');
});

test('the same text with another profile is another configuration', async () => {
  await take(orderOf(packed('First')));
  const first = await open();
  await first.choose();
  await first.reached();
  first.close();
  await take(orderOf(packed('Second')));
  const second = await open();
  expect((await second.choose()).vehicle.profile.title).toBe('Second');
  expect(second.hello.generation).toBe(2);
});

test('a sent profile takes precedence over the file of that path on the unit, which stays', async () => {
  mkdirSync(join(folder, 'car', 'dbc'), { recursive: true });
  writeFileSync(join(folder, 'car', 'profile.yaml'), profile('Unit'));
  writeFileSync(join(folder, 'car', 'dbc', 'small.dbc'), dbc());
  await take(encodeBody('Configuration', { configuration: withProfile() }));
  const own = await open();
  expect((await own.choose()).vehicle.profile.title).toBe('Unit');
  await own.reached();
  own.close();
  await take(orderOf(packed('Sent')));
  const sent = await open();
  expect((await sent.choose()).vehicle.profile.title).toBe('Sent');
  expect(readFileSync(join(folder, 'car', 'profile.yaml'), 'utf8')).toBe(profile('Unit'));
});

test('unusable files are refused by name, and none of them stays in effect', async () => {
  const agent = await open();
  await agent.choose();
  const [yaml, network] = packed('First');
  const bomb = packFile({ path: 'car/dbc/small.dbc', contents: new Uint8Array(5 * 1024 * 1024) });
  for (const [files, why] of [
    [packed('First', dbc().replace('Speed', 'Tempo')), /car\/profile.yaml line 5: .*SPEEDS has no/],
    [[yaml], /small.dbc/],
    [[yaml, { ...network, deflated: new Uint8Array([7, 7]) }], /small.dbc.*cannot be unpacked/],
    [[yaml, bomb], /small.dbc.*more than 4194304 bytes/],
  ] as const) {
    await expect(agent.agentCommand(orderOf(files as ReturnType<typeof packed>), 0)).rejects.toMatchObject({
      code: 'configuration.wrong',
      message: expect.stringMatching(why),
    });
  }
  for (const path of ['../vigie.yaml', '/etc/passwd', 'a/../../b', './a', '.hidden', 'a//b']) {
    expect(() => orderOf([{ path, deflated: new Uint8Array() }])).toThrow(/path/);
  }
  expect(agent.hello).toEqual({ generation: 0, state: 'local' });
});

test('a configuration without vin and data keeps those of the unit', async () => {
  const configuration = text('warn').replace(/^(vin|data): .*\n/gm, '');
  expect(configuration).not.toContain('vin');
  await take(encodeBody('Configuration', { configuration }));
  const trying = await open();
  const chosen = await trying.choose();
  expect(chosen.configuration).toMatchObject({ vin: 'VF3SERVCECAR00001', log: { level: 'warn' } });
  expect(chosen.configuration.data).toBe(join(folder, 'records'));
});
