/** Custom signals of a profile, from a log to the decoded messages of a receiver. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { vigie } from '../rig/bench.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-custom-signals-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

/** A car with 25 messages of eight signals each: all kinds of numbers, flags and enumerations. */
const MESSAGES = 25;
const steps = [1, 0.1, 0.25, 0.001, 2, 0.5, -0.1, 1];
const offsets = [0, -40, 0, 0.5, 100, 0, 0, 0];

function dbc(): string {
  const lines = ['VERSION ""', 'BU_: ECU'];
  const tables: string[] = [];
  for (let m = 0; m < MESSAGES; m++) {
    lines.push(`BO_ ${256 + m} M${m}: 8 ECU`);
    for (let s = 0; s < 8; s++) {
      const sign = s === 3 ? '-' : '+';
      // The last byte has a flag, an enumeration and a five-bit number.
      const place = s < 6 ? `${s * 8}|8` : s === 6 ? '48|8' : m % 2 === 0 ? '56|1' : '56|2';
      const unit = s === 7 ? '' : 'V';
      const [step, offset] = s === 7 ? [1, 0] : [steps[s], offsets[s]];
      lines.push(` SG_ S${s} : ${place}@1${sign} (${step},${offset}) [0|0] "${unit}" ECU`);
      if (s === 7 && m % 2 === 1) tables.push(`VAL_ ${256 + m} S7 0 "Off" 1 "On" 2 "Fault" ;`);
    }
  }
  return `${[...lines, ...tables].join('\n')}\n`;
}

/** Frames at irregular times, some repeated. Numbers change in small steps, so that dead-bands matter. */
function drive(): string {
  let state = 12345;
  const random = (most: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % most;
  };
  const payloads = Array.from({ length: MESSAGES }, () => Array.from({ length: 8 }, () => random(256)));
  const lines: string[] = [];
  let at = 1_700_000_000_000_000;
  for (let i = 0; i < 12_000; i++) {
    at += 100 + random(4_000);
    const m = random(MESSAGES);
    const payload = payloads[m] as number[];
    if (random(4) > 0) {
      const byte = random(8);
      payload[byte] = ((payload[byte] as number) + random(9) - 4) & 0xff;
    }
    const hex = payload.map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join('');
    lines.push(`(${(at / 1e6).toFixed(6)}) can0 ${(256 + m).toString(16).toUpperCase()}#${hex}`);
  }
  return `${lines.join('\n')}\n`;
}

const head = 'profile: 1\nname: custom\nbuses:\n  - { name: can, dbc: [car.dbc] }\nstatus: {}\n';

type Value = number | string | boolean;
type Series = [at: number, value: Value][];

interface Line {
  readonly topic: string;
  readonly body: {
    readonly series?: unknown[];
    readonly catalog?: string;
    readonly signals?: readonly { name: string; unit?: string; at: number[]; values: Value[] }[];
    readonly entries?: readonly { number: number; name: string }[];
  };
}

const parsed = <T>(text: string): T[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

/** Readings of each signal at a receiver, in the order of arrival. */
function received(text: string): Map<string, Series> {
  const all = new Map<string, Series>();
  for (const { body } of parsed<Line>(text)) {
    if (body.series === undefined) continue;
    for (const { name, at, values } of body.signals ?? []) {
      const series = all.get(name) ?? [];
      all.set(name, series);
      for (const [i, value] of values.entries()) series.push([at[i] as number, value]);
    }
  }
  return all;
}

/** Readings of each signal in the output of `vigie decode`, including repeated ones. */
async function decoded(log: string): Promise<Map<string, Series>> {
  const { stdout, status, stderr } = await vigie('decode', log, '--dbc', join(folder, 'car.dbc'), '--choices');
  expect(status, stderr).toBe(0);
  const all = new Map<string, Series>();
  for (const { t, message, signals } of parsed<{ t: number; message: string; signals: Record<string, Value> }>(
    stdout,
  )) {
    for (const [signal, value] of Object.entries(signals)) {
      const name = `Vehicle.${message}.${signal}`;
      const flag = signal === 'S7' && Number(message.slice(1)) % 2 === 0;
      const series = all.get(name) ?? [];
      all.set(name, series);
      series.push([t, flag ? value === 1 : typeof value === 'number' ? value + 0 : value]);
    }
  }
  return all;
}

const wildcards = (rule: string): string =>
  Array.from({ length: MESSAGES }, (_, m) => `  Vehicle.M${m}.*: { signal: M${m}.*, ${rule} }\n`).join('');

test('without interval and dead-band each change of 200 signals arrives with the value that decode prints', async () => {
  file('car.dbc', dbc());
  const log = file('drive.log', drive());
  const profile = file('every.yaml', `${head}signals:\n${wildcards('interval: 0, heartbeat: 1h')}`);
  const { stdout, stderr, status } = await vigie('replay', log, '--profile', profile);
  expect(status, stderr).toBe(0);
  expect(stderr).toMatch(/messages: catalog 1, hello 1, telemetry \d+;/);
  const found = received(stdout);
  expect(found.size).toBe(200);
  for (const [name, readings] of await decoded(log)) {
    const changes = readings.filter(([, value], i) => i === 0 || value !== readings[i - 1]?.[1]);
    expect(found.get(name), name).toEqual(changes.map(([at, value]) => [Math.round(at), value]));
  }
  // Their catalog came before, with units.
  const lines = parsed<Line>(stdout);
  const catalog = lines.findIndex(({ body }) => body.entries !== undefined);
  const first = lines.findIndex(({ body }) => body.signals !== undefined);
  expect(catalog).toBeLessThan(first);
  expect(lines[catalog]?.topic).toBe(`vigie/1/VF3REPLAY00000001/up/catalog-${lines[first]?.body.catalog}-0`);
  const units = new Set(lines[first]?.body.signals?.map(({ name, unit }) => `${name.endsWith('S7')} ${unit}`));
  expect([...units].sort()).toEqual(['false V', 'true undefined']);
});

/**
 * A second implementation of the telemetry rules, reading by reading. Numbers are compared as integers in thousandths.
 */
function naive(readings: Series, rule: { interval: number; band: number; heartbeat: number }, end: number): Series {
  const out: Series = [];
  let last: [at: number, value: Value] | undefined;
  let held: [at: number, value: Value] | undefined;
  let present: [at: number, value: Value] | undefined;
  const put = (at: number, value: Value): void => {
    last = [Math.round(at), value];
    held = undefined;
    out.push(last);
  };
  const tick = (now: number): void => {
    if (held !== undefined && last !== undefined && now - last[0] >= rule.interval) put(...held);
    if (last === undefined || present === undefined) return;
    if (now - last[0] >= rule.heartbeat && present[0] > last[0]) put(now, present[1]);
  };
  let second = Math.ceil((readings[0]?.[0] ?? 0) / 1000) * 1000;
  for (const [at, value] of [...readings, [end, undefined] as const]) {
    for (; second <= at; second += 1000) tick(second);
    if (value === undefined) break;
    const before = present?.[1];
    present = [at, value];
    if (value === before) continue;
    const moved =
      typeof value === 'number' && typeof last?.[1] === 'number'
        ? Math.abs(Math.round(value * 1000) - Math.round(last[1] * 1000)) >= rule.band * 1000
        : true;
    if (!moved) held = undefined;
    else if (last === undefined || at - last[0] >= rule.interval) put(at, value);
    else held = [Math.round(at), value];
  }
  if (held !== undefined) out.push(held);
  return out;
}

test('with interval, dead-band and heartbeat 200 signals arrive as a naive recorder records them', async () => {
  file('car.dbc', dbc());
  const log = file('drive.log', drive());
  const profile = file('rules.yaml', `${head}signals:\n${wildcards('interval: 1500ms, deadBand: 0.3, heartbeat: 4s')}`);
  const { stdout, stderr, status } = await vigie('replay', log, '--profile', profile);
  expect(status, stderr).toBe(0);
  const found = received(stdout);
  const readings = await decoded(log);
  const end = Math.max(...[...readings.values()].map((series) => series.at(-1)?.[0] ?? 0));
  expect(found.size).toBe(200);
  for (const [name, series] of readings) {
    // Names have no dead-band, nor do numbers in an enumeration.
    const band = name.endsWith('S7') && !name.match(/M\d*[02468]\./) ? 0 : 0.3;
    expect(found.get(name), name).toEqual(naive(series, { interval: 1500, band, heartbeat: 4000 }, end));
  }
});

const floating = 'BO_ 900 F: 8 ECU\n SG_ Torque : 0|32@1- (1,0) [0|0] "Nm" ECU\nSIG_VALTYPE_ 900 Torque : 1;\n';

/** Line and message of each finding, and its fix. */
async function findings(name: string, entries: string): Promise<string[]> {
  file('car.dbc', `${dbc()}${floating}`);
  const { stdout, status } = await vigie('check', '--profile', file(name, `${head}signals:\n${entries}`));
  expect(status).toBe(2);
  return parsed<{ line: number; message: string; fix?: string }>(stdout).map(
    ({ line, message, fix }) => `${line - 6}: ${message}${fix === undefined ? '' : ` (${fix})`}`,
  );
}

test('check reports every invalid member of a custom signal', async () => {
  const entries = `  Vehicle.A.*: { signal: M0.S1 }
  Vehicle.B: { signal: M0.* }
  Vehicle.C: { signal: M0.S0, resolution: 0 }
  Vehicle.D: { signal: M1.S7, kind: enumeration, unit: V }
  Vehicle.E: { signal: M0.S0, while: { path: kinetic.speed, atLeast: 1 } }
  Vehicle..F: { signal: M3.S1 }
  Vehicle.G: { signal: M0.S2, kind: text, interval: 1s }
  kinetic.speed: { signal: M0.S0 }
  Vehicle.H: { signal: M0.S3, interval: 0s }
`;
  expect(await findings('form.yaml', entries)).toEqual([
    '1: a name ends with .* when the signal is MESSAGE.*, and not otherwise (write M0.*, or a name without *)',
    '2: a name ends with .* when the signal is MESSAGE.*, and not otherwise (write Vehicle.B.*)',
    '3: resolution must be a number, more than 0, not 0',
    '4: an enumeration has no unit (remove it)',
    '5: nothing under status gives kinetic.speed a value: the signal would never be recorded (add it to status)',
    '6: "Vehicle..F" must be a name such as Vehicle.Cabin.Lights',
    '7: a text has no interval (remove it)',
    '7: texts come from buses with `obd` only (a DBC describes numbers: remove kind)',
    '8: kinetic.speed is a path of the interface, which a custom signal does not feed (map it under status, or give the signal another name)',
    '9: interval must be a time such as 250ms, 5s or 2m, a whole number of milliseconds, or 0 for every change, not "0s"',
  ]);
});

test('check suggests the intended signals and messages, and reports duplicate names and numbers without a resolution', async () => {
  const entries = `  Vehicle.A: { signal: M1.S9 }
  Vehicle.B: { signal: MM1.S1 }
  Vehicle.C.*: { signal: MM1.* }
  Vehicle.D: { signal: F.Torque }
  Vehicle.M.*: { signal: M2.* }
  Vehicle.M.S1: { signal: M3.S1 }
`;
  expect(await findings('names.yaml', entries)).toEqual([
    expect.stringMatching(/^1: message M1 has no signal S9 \(did you mean S\d/),
    expect.stringMatching(/^2: no network description has a message MM1 \(did you mean M1/),
    expect.stringMatching(/^3: no network description has a message MM1 \(did you mean M1/),
    '4: Vehicle.D is a floating-point number, which has no step of its own (add resolution: the smallest step that matters, in the unit)',
    '6: Vehicle.M.S1 is a signal already, in line 11 (give one another name)',
  ]);
});

test('check reports resolutions, dead-bands and intervals that record nothing, with a fix', async () => {
  const entries = `  Vehicle.A: { signal: M0.S0, resolution: 1e-300 }
  Vehicle.B: { signal: M0.S1, resolution: 1e300 }
  Vehicle.C: { signal: F.Torque, resolution: 1e-300 }
  Vehicle.D: { signal: M0.S2, deadBand: 1e6 }
  Vehicle.E: { signal: M0.S3, scale: 1e-300, resolution: 1e-320 }
  Vehicle.F: { signal: M0.S4, scale: 1e308 }
  Vehicle.G: { signal: M0.S6, interval: 1h }
  Vehicle.H.*: { signal: M2.*, deadBand: 40 }
`;
  expect(await findings('times.yaml', '  Vehicle.A: { signal: M0.S6, interval: 1h, heartbeat: 1m }\n')).toEqual([
    '1: a reading would be repeated after 1m and allowed only every 1h (make heartbeat at least as long as interval)',
  ]);
  expect(await findings('steps.yaml', entries)).toEqual([
    '1: Vehicle.A: with a resolution of 1e-300 values beyond ±2.3e-285 are not recorded (write at least 1.2e-13)',
    '2: Vehicle.B: its values lie between -40 and -14.5: with a resolution of 1e+300 it never changes (write at most 0.1)',
    '3: Vehicle.C: with a resolution of 1e-300 values beyond ±2.3e-285 are not recorded (write at least 4.7e-16)',
    '4: Vehicle.D: its values lie between 0 and 63.75: it never changes by the dead-band 1000000 (make deadBand smaller)',
    expect.stringMatching(/^5: Vehicle.E: with a resolution of /),
    '6: Vehicle.F: a step of Infinity cannot be kept (write another scale, offset or resolution)',
    '8: Vehicle.H.S1: its values lie between -40 and -14.5: it never changes by the dead-band 40 (make deadBand smaller)',
    '8: Vehicle.H.S3: its values lie between 0.372 and 0.627: it never changes by the dead-band 40 (make deadBand smaller)',
    '8: Vehicle.H.S6: its values lie between -25.5 and 0: it never changes by the dead-band 40 (make deadBand smaller)',
  ]);
});

test('check refuses names and units too long for a catalog, and a replay of the longest allowed ones arrives', async () => {
  const names = (most: number, text: string): string =>
    Array.from({ length: most }, (_, i) => `${i} "${text.padStart(250, `${i} `)}"`).join(' ');
  const many = `VERSION ""
BU_: ECU
BO_ 256 E: 8 ECU
 SG_ Most : 0|16@1+ (1,0) [0|0] "" ECU
 SG_ Many : 16|16@1+ (1,0) [0|0] "" ECU
 SG_ Long : 32|8@1+ (1,0) [0|0] "" ECU
 SG_ Odd : 40|8@1+ (1,0) [0|0] "${'V'.repeat(257)}" ECU
 SG_ ${'N'.repeat(128)} : 48|8@1+ (1,0) [0|0] "" ECU
VAL_ 256 Most ${names(3_700, 'most')} ;
VAL_ 256 Many ${names(4_000, 'many')} ;
VAL_ 256 Long 0 "off" 1 "${'x'.repeat(257)}" ;
`;
  file('car.dbc', many);
  const long = 'L'.repeat(150);
  const wrong = `${head}signals:
  Vehicle.Many: { signal: E.Many }
  Vehicle.Long: { signal: E.Long }
  Vehicle.Odd: { signal: E.Odd }
  ${long}.*: { signal: E.* }
`;
  const { stdout, status } = await vigie('check', '--profile', file('unsendable.yaml', wrong));
  expect(status).toBe(2);
  const found = parsed<{ line: number; message: string; fix?: string }>(stdout);
  expect(found.map(({ line, message, fix }) => `${line - 6}: ${message} (${fix})`)).toEqual([
    expect.stringMatching(
      /^1: Vehicle\.Many has 4000 names of 1\d+ bytes; at most 1000000 allowed \(name its values under/,
    ),
    '2: Vehicle.Long: the name of 1 has 257 characters; at most 256 allowed (name its values under names, or write kind: quantity)',
    '3: the unit of Vehicle.Odd has 257 characters; at most 256 allowed (write a shorter unit)',
    `4: ${long}.${'N'.repeat(128)} has 279 characters; at most 256 allowed (give it a shorter name)`,
  ]);
  const right = `${head}signals:
  Vehicle.Most: { signal: E.Most }
  Vehicle.Many: { signal: E.Many, kind: quantity }
  Vehicle.Long: { signal: E.Long, names: { 0: off, 1: on } }
  Vehicle.Odd: { signal: E.Odd, unit: V }
`;
  const log = file('names.log', '(1700000000.000000) can0 100#0100020001040000\n');
  const replayed = await vigie('replay', log, '--profile', file('sendable.yaml', right));
  expect(replayed.status, replayed.stderr).toBe(0);
  expect([...received(replayed.stdout)].map(([name, series]) => [name, series[0]?.[1]])).toEqual([
    ['Vehicle.Most', 'most'.padStart(250, '1 ')],
    ['Vehicle.Many', 2],
    ['Vehicle.Long', 'on'],
    ['Vehicle.Odd', 4],
  ]);
});

test.each(['in the configuration', 'in a file beside it'])(
  'check reports unknown signals and wrong operators of monitors %s, with the line and the nearest name',
  async (place) => {
    file('car.dbc', dbc());
    file('watched.yaml', `${head}signals:\n  Vehicle.Cell.Max: { signal: M0.S0 }\n  Vehicle.Mode: { signal: M1.S7 }\n`);
    const monitor = (id: string, data: string): string =>
      `- { monitorId: ${id}, monitor: { label: l, triggerParam: { boolExp: t, triggers: [{ name: t, data: ${data} }] } } }`;
    const list = [
      monitor('a', "{ data: signal.Vehicle.Cell.Max, op: lowerThan, value: ['3'], hysteresis: 0.5 }"),
      monitor('b', "{ data: signal.Vehicle.Cel.Max, op: lowerThan, value: ['3'] }"),
      monitor('c', '{ data: signal.Vehicle.Cell.Max, op: onChange }'),
      monitor('d', "{ data: signal.Vehicle.Mode, op: equalsTo, value: ['Of'] }"),
    ];
    const beside = place === 'in a file beside it';
    file('monitors.yaml', list.join('\n'));
    const first = `configuration: 1
vin: VF3WR1TTENCAR0001
profile: ./watched.yaml
data: ./records
can: [{ bus: can, socketcan: can0 }]
mqtt: { url: mqtt://127.0.0.1:1883 }
`;
    const section = beside ? 'monitors: { file: monitors.yaml }\n' : `monitors:\n${list.join('\n')}\n`;
    const configuration = file('signal-monitors.yaml', first + section);
    const { stdout, status } = await vigie('check', '-c', configuration, '--format', 'ndjson');
    const found = parsed<{ line: number; severity: string; message: string }>(stdout).filter(
      ({ severity }) => severity === 'error',
    );
    const at = 'triggerParam.triggers[0].data';
    expect(found.map(({ line, message }) => [beside ? line : line - 7, message.replace(/^.*?: /, '')])).toEqual([
      [2, 'the car has no custom signal Vehicle.Cel.Max: did you mean signal.Vehicle.Cell.Max?'],
      [3, 'of signal.Vehicle.Cell.Max must be one of equalsTo, greaterThan, lowerThan, is onChange'],
      [4, 'of signal.Vehicle.Mode must be one of Off, On, Fault, a whole number that has no name, is "Of"'],
    ]);
    expect(found.map(({ message }) => message.split(': ')[0])).toEqual([`${at}.data`, `${at}.op`, `${at}.value[0]`]);
    expect(status).toBe(2);
  },
);

test('check names the interface path that a VSS name stands for, unless status maps it', async () => {
  file('car.dbc', dbc());
  const entries = `signals:\n  Vehicle.Speed: { signal: M0.S0 }\n  Vehicle.IsMoving: { signal: M0.S7 }\n`;
  const profile = file('vss.yaml', `${head.replace('{}', '\n  kinetic.moving: { signal: M0.S7 }')}${entries}`);
  const { stdout, status } = await vigie('check', '--profile', profile, '--format', 'ndjson');
  expect(status).toBe(0);
  expect(parsed<{ message: string }>(stdout).map(({ message }) => message)).toEqual([
    'the interface has a path for Vehicle.Speed: kinetic.speed',
  ]);
});
