/** J1939 in `vigie decode`: groups of several packets, and fault codes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packetsOf, type SentGroup } from '../adapters/can/j1939/writer.ts';
import { vigie } from '../rig/bench.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-truck-'));
  writeFileSync(
    join(folder, 'truck.dbc'),
    `VERSION ""
BU_: ECU
BO_ ${0x98fee3fe} EC1: 39 ECU
 SG_ IdleSpeed : 0|16@1+ (0.125,0) [0|8031.875] "rpm" ECU
 SG_ MaxSpeed : 296|16@1+ (0.125,0) [0|8031.875] "rpm" ECU
BO_ ${0x98fd7cfe} LONG: 100 ECU
 SG_ Last : 784|16@1- (1,-5) [0|0] "" ECU
 SG_ LastBig : 775|16@0+ (1,0) [0|0] "" ECU
 SG_ Across : 508|12@1+ (1,0) [0|0] "" ECU
BA_DEF_ "ProtocolType" STRING ;
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
BA_DEF_DEF_ "ProtocolType" "";
BA_DEF_DEF_ "VFrameFormat" "J1939PG";
BA_ "ProtocolType" "J1939";
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex').toUpperCase();

/** Groups in sequence as a candump log, 10 ms between frames. */
function logOf(name: string, groups: readonly SentGroup[], drop = -1): string {
  const packets = groups.flatMap(packetsOf).filter((_, i) => i !== drop);
  const lines = packets.map(({ id, data }, i) => {
    const name = (id & 0x1fff_ffff).toString(16).toUpperCase().padStart(8, '0');
    return `(${(1000 + i / 100).toFixed(6)}) can0 ${name}#${hex(data)}`;
  });
  // A fault code that fits in one frame.
  lines.push('(2000.000000) can0 18FECA03#04FF64000305FFFF');
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  return join(folder, name);
}

const config: SentGroup = {
  kind: 'one',
  group: 0xfee3,
  source: 0,
  destination: 0x21,
  data: Uint8Array.from({ length: 39 }, (_, i) => [0x00, 0x14][i] ?? (i === 37 ? 0x80 : i === 38 ? 0x3e : 0)),
};
const long: SentGroup = {
  kind: 'all',
  group: 0xfd7c,
  source: 5,
  destination: 0xff,
  data: Uint8Array.from({ length: 100 }, (_, i) => i),
};
const faults: SentGroup = {
  kind: 'all',
  group: 0xfeca,
  source: 0,
  destination: 0xff,
  data: Uint8Array.of(0x54, 0xd7, 100, 0, 0x01, 5, 0x00, 0xf0, 0xff, 127, 91, 0, 0x03, 2),
};

test('a group of several packets is decoded as one message, in time order', async () => {
  const log = logOf('truck.log', [config, long, faults]);
  const { stdout, stderr, status } = await vigie('decode', log, '--dbc', join(folder, 'truck.dbc'));
  expect(status, stderr).toBe(0);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toMatchObject([
    {
      id: 0x1cfee300,
      message: 'EC1',
      signals: { IdleSpeed: 640, MaxSpeed: 2000 },
      data: hex(config.data).toLowerCase(),
    },
    { id: 0x1cfd7c05, message: 'LONG', signals: { Last: 0x6362 - 5, LastBig: 0x6061, Across: 0x403 } },
    {
      id: 0x1cfeca00,
      message: 'DM1',
      lamps: { malfunction: 'on', redStop: 'fastFlash', amberWarning: 'fastFlash', protect: 'off' },
      faults: [
        { spn: 100, fmi: 1, count: 5 },
        { spn: 520192, fmi: 31 },
        { spn: 91, fmi: 3, count: 2 },
      ],
    },
    { id: 0x18feca03, message: 'DM1', lamps: { amberWarning: 'on' }, faults: [{ spn: 100, fmi: 3, count: 5 }] },
  ]);
  const times = lines.map(({ t }) => t as number);
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

test('filters select groups like frames', async () => {
  const log = logOf('filtered.log', [config, long]);
  const { stdout } = await vigie(
    'decode',
    log,
    '--dbc',
    join(folder, 'truck.dbc'),
    '--signals',
    'EC1.MaxSpeed',
    '--format',
    'text',
  );
  expect(stdout).toBe('1000.070000 can0 1CFEE300 EC1 MaxSpeed=2000\n');
  const ids = await vigie('decode', log, '--dbc', join(folder, 'truck.dbc'), '--ids', '1CFD7C05', '--format', 'text');
  expect(ids.stdout).toMatch(/^\S+ can0 1CFD7C05 LONG Last=25437 LastBig=24673 Across=1027\n$/);
});

test('a group with a missing packet is counted, and the others are decoded', async () => {
  const log = logOf('cut.log', [config, long], 4);
  const { stdout, stderr } = await vigie('decode', log, '--dbc', join(folder, 'truck.dbc'), '--format', 'text');
  expect(stdout).toMatch(/^\S+ can0 1CFD7C05 LONG .*\n\S+ can0 18FECA03 DM1 amberWarning=on SPN100\/FMI3×5\n$/);
  expect(stderr).toContain('cut.log: 1 group of several packets (J1939) lost: packets are missing\n');
});

test('replay gives the values of a group, as the agent in the car does', async () => {
  const profile = join(folder, 'truck.yaml');
  writeFileSync(
    profile,
    'profile: 1\nname: truck\nbuses:\n  - { name: car, dbc: [truck.dbc] }\nstatus:\n  engines.Thermic.speed: { signal: EC1.MaxSpeed }\n',
  );
  const { stdout, stderr, status } = await vigie('replay', logOf('replay.log', [config, long]), '--profile', profile);
  expect(status, stderr).toBe(0);
  const readings = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { topic: string; body: { series?: readonly object[] } })
    .filter(({ topic }) => topic.endsWith('/up/telemetry'))
    .flatMap(({ body }) => body.series ?? []);
  expect(readings).toMatchObject([{ path: 'engines.Thermic.speed', at: [1_000_070], values: [2000] }]);
});
