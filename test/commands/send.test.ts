import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explain } from '../../commands/send/explain.ts';
import type { Details } from '../../commands/send/request.ts';
import { requestOf, usages } from '../../commands/send/vocabulary.ts';
import { decodeBody, encodeBody } from '../../protocol/command.ts';
import { failureCauses } from '../../protocol/errors.ts';
import { remoteTypes } from '../../protocol/remote/table.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';

const everyDay = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const program = { slot: 1, enabled: true, start: 'PT7H15M', actionsType: 'Set' };
const point = (...coordinates: number[]) => ({ type: 'Point', coordinates });

const understood: readonly (readonly [words: string, details: Details, kind: string, body: object])[] = [
  ['doors lock', {}, 'Doors', { state: 'Locked' }],
  ['doors unlock', {}, 'Doors', { state: 'Unlocked' }],
  ['lights', {}, 'Lights', { on: true }],
  ['lights off', {}, 'Lights', { on: false }],
  ['horn', {}, 'Horn', { state: 'Activated' }],
  ['horn off', {}, 'Horn', { state: 'Unactivated' }],
  ['wakeup', {}, 'WakeUp', {}],
  ['charge', {}, 'ElectricBatteryChargingRequest', { immediate: true }],
  ['charge off', {}, 'ElectricBatteryChargingRequest', { immediate: false }],
  ['charge', { at: '23:30' }, 'ElectricBatteryChargingRequest', { schedule: { nextDelayedTime: 'PT23H30M' } }],
  ['charge', { at: '0:00' }, 'ElectricBatteryChargingRequest', { schedule: { nextDelayedTime: 'PT0S' } }],
  [
    'charge',
    { at: '2026-01-31T22:30:00+01:00' },
    'ElectricBatteryChargingRequest',
    { schedule: { nextDelayedTime: '2026-01-31T22:30:00+01:00' } },
  ],
  [
    'charge',
    { at: '22:00', until: '6:00', days: 'Mon,fri', slot: '2' },
    'ElectricBatteryChargingRequest',
    {
      schedule: {
        programs: [{ slot: 2, enabled: true, start: 'PT22H', end: 'PT6H', occurence: { day: ['Mon', 'Fri'] } }],
      },
    },
  ],
  ['charge never', {}, 'ElectricBatteryChargingRequest', { schedule: { programs: [] } }],
  [
    'charge',
    { level: '3', type: 'full' },
    'ElectricBatteryChargingRequest',
    { preferences: { level: 'Level3', type: 'Full' } },
  ],
  ['precondition', {}, 'ThermalPreconditioning', { airConditioning: { immediate: true } }],
  ['precondition off', {}, 'ThermalPreconditioning', { airConditioning: { immediate: false } }],
  [
    'precondition',
    { slot: '1', at: '07:15', days: 'Mon,Tue' },
    'ThermalPreconditioning',
    { airConditioning: { programs: [{ ...program, occurence: { day: ['Mon', 'Tue'] } }] } },
  ],
  [
    'precondition',
    { slot: '1', at: '07:15', once: true },
    'ThermalPreconditioning',
    { airConditioning: { programs: [{ ...program, recurrence: 'None', occurence: { day: everyDay } }] } },
  ],
  [
    'precondition delete',
    { slot: '3' },
    'ThermalPreconditioning',
    { airConditioning: { programs: [{ slot: 3, actionsType: 'Delete' }] } },
  ],
  ['stolen on', {}, 'Stolen', { stolen: true }],
  ['stolen off', {}, 'Stolen', { stolen: false }],
  ['stolen track', { running: '5', shutdown: '60' }, 'Stolen', { trackingPeriod: { running: 5, shutdown: 60 } }],
  ['immobilize on', {}, 'Immobilization', { activate: true }],
  ['navigate 2.35,48.85', {}, 'Navigation', { positions: [point(2.35, 48.85)] }],
  ['navigate -1,45 2.35,48.85', {}, 'Navigation', { positions: [point(-1, 45), point(2.35, 48.85)] }],
];

describe('words of the command line', () => {
  test.each(understood)('send parses %s %j', (words, details, kind, body) => {
    const [what = '', ...rest] = words.split(' ');
    const request = requestOf(what, rest, details);
    expect(request).toEqual({ kind, body });
    // The encoded body equals the decoded one.
    expect(decodeBody(request.kind, encodeBody(request.kind, request.body))).toEqual(body);
  });

  test('each kind of the interface has words on the command line', () => {
    expect(new Set(understood.map(([, , kind]) => kind))).toEqual(new Set(remoteTypes));
    expect(usages).toHaveLength(remoteTypes.length);
  });

  test.each<[string, Details, RegExp]>([
    ['windows open', {}, /cannot send "windows open"; known:\n {2}precondition .*\n(.*\n)* {2}doors lock/],
    ['lock doors', {}, /cannot send "lock doors"; did you mean "doors lock"\? Known are:\n/],
    ['door lock', {}, /did you mean "doors lock"\?/],
    ['hron on', {}, /did you mean "horn on"\?/],
    ['doors', {}, /doors lock\|unlock/],
    ['doors ajar', {}, /doors lock\|unlock/],
    ['doors lock now', {}, /doors lock\|unlock/],
    ['doors lock', { at: '7:00' }, /"doors" has no --at/],
    ['charge on', { at: '7:00' }, /no --at; leave on out/],
    ['charge', { at: '24:00' }, /--at must be a time of day/],
    ['charge', { at: '7:00', until: '7:00' }, /end must not be start/],
    ['charge', { until: '7:00' }, /need --at/],
    ['charge', { level: '6' }, /--level must be 1, 2, 3, 4, 5, is 6/],
    ['charge', { at: '7:00', level: '1' }, /preferences cannot go together/],
    ['precondition', { at: '7:00' }, /needs --slot and --at/],
    ['precondition', { at: '7:00', slot: '5' }, /1 to 4, is 5/],
    ['precondition', { at: '7:00', slot: '1', days: 'Mon,Someday' }, /--days must be Mon/],
    ['precondition delete', {}, /needs --slot/],
    ['stolen', {}, /stolen on\|off\|track/],
    ['stolen on', { running: '5' }, /belong to "stolen track"/],
    ['stolen track', {}, /must have running or shutdown/],
    ['stolen track', { running: '4' }, /5 to 86400, is 4/],
    ['navigate', {}, /navigate LON,LAT/],
    ['navigate 48.85', {}, /not a place/],
    ['navigate 2.35,', {}, /not a place/],
    ['navigate 2.35,148.85', {}, /not a place/],
    [`navigate ${'1,2 '.repeat(11).trim()}`, {}, /navigate LON,LAT/],
    ['constructor', {}, /known/],
  ])('"%s" %j is refused with advice', (words, details, message) => {
    const [what = '', ...rest] = words.split(' ');
    expect(() => requestOf(what, rest, details)).toThrow(
      expect.objectContaining({ code: 'usage.wrong', message: expect.stringMatching(message) }),
    );
  });
});

test('each failure cause has an explanation', () => {
  const report = { remoteActionId: 'a', type: 'Doors', status: 'Failed', detail: 'why' } as const;
  const texts = failureCauses.map((failureCause) => explain({ ...report, failureCause }));
  for (const [index, text] of texts.entries()) {
    expect(text).toMatch(new RegExp(`^Doors Failed \\(${failureCauses[index]}\\): why\\n {2}.{10,}$`));
  }
  expect(new Set(texts).size).toBe(failureCauses.length);
  expect(explain({ remoteActionId: 'a', type: 'Horn', status: 'Accepted' })).toBe('Horn Accepted');
});

test('send --help shows every command, and a wrong command ends with status 2', async () => {
  const help = await vigie('send', '--help');
  // A terminal may be narrower than a line.
  const text = help.stdout.replaceAll(/\s+/g, ' ');
  for (const usage of usages) expect(text).toContain(usage);
  const wrong = await vigie('send', 'VF3VGEBENCH000001', 'charge', '--at', 'noon');
  expect(wrong.status).toBe(2);
  expect(wrong.stderr).toContain('--at must be a time of day');
});

test.each([
  [['--broker', 'mqtt://127.0.0.1:1', '--hub', 'http://127.0.0.1:1'], 'cannot be used with option'],
  [['--token-file', 'token'], '--token-file is for --hub'],
  [['--hub', '127.0.0.1:8080'], 'is not the address of a hub, such as http://127.0.0.1:8080'],
  [['--hub', 'http://127.0.0.1:1'], 'http://127.0.0.1:1: the hub does not answer: '],
  [['--broker', 'mqtt://127.0.0.1:1', '--keys', 'no-keys'], 'obey their hub: send with --hub URL'],
])('a command with %j ends with status 2: %s', async (options, message) => {
  const { status, stderr } = await vigie('send', 'VF3VGEBENCH000001', 'doors', 'lock', ...options);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('a hub sends no command to the agent itself', async () => {
  const words = ['resend', '2', '17', '--hub', 'http://127.0.0.1:1'];
  const { status, stderr } = await vigie('send', 'VF3VGEBENCH000001', ...words);
  expect([status, stderr]).toEqual([2, expect.stringContaining('"resend" is for the agent itself')]);
});

describe('commands to a bench', () => {
  const VIN = 'VF3VGEBENCH000001';
  let data: string;
  let bench: VigieProcess;

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'vigie-send-'));
    bench = new VigieProcess(['bench', '--data', data, '--port', '0', '--scenario', 'parked']);
    await bench.says('Ctrl-C ends the bench.');
    // Interlocks need readings that are sent at least once a second.
    await bench.says(`published vigie/1/${VIN}/up/telemetry`);
  });

  afterAll(async () => {
    await bench.end('SIGKILL');
    rmSync(data, { recursive: true, force: true });
  });

  const send = (words: string) => vigie('send', VIN, ...words.split(' '), '--data', data);
  const told = (stdout: string): { type: string; status: string }[] =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; status: string });

  // In sequence: each test starts from the state that the previous one left. Outcomes of every kind are tested in
  // remotes.test.ts, here only one command of each form.
  test.each([
    ['charge', 'ElectricBatteryChargingRequest', 'AlreadyDone'],
    ['charge --at 22:00 --until 6:00 --days Mon,Fri', 'ElectricBatteryChargingRequest', 'Success'],
    ['precondition --slot 1 --at 07:15 --days Mon,Tue', 'ThermalPreconditioning', 'Success'],
    ['navigate 2.35,48.85 2.29,48.86', 'Navigation', 'Success'],
    ['stolen on', 'Stolen', 'Success'],
  ])('send %s sends %s, which ends with %s', async (words, type, outcome) => {
    const { status, stdout, stderr } = await send(words);
    const reports = told(stdout);
    expect(reports.map((report) => report.type)).toEqual(reports.map(() => type));
    const before = type === 'Navigation' ? ['SentToVehicle'] : ['Accepted', 'SentToVehicle'];
    expect(
      reports.map((report) => report.status),
      `${stdout}${stderr}`,
    ).toEqual([...before, outcome]);
    expect(status).toBe(0);
  });

  test('send explains a refusal', async () => {
    const { status, stdout } = await send('doors unlock --format text');
    expect(status).toBe(1);
    expect(stdout).toContain(
      'Doors Failed (NotPossibleDueToVehicleStolenState): the car counts as stolen\n  this goes only',
    );
    expect((await send('stolen off')).status).toBe(0);
  });
});
