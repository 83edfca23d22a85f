/** Diagnostic commands in a profile: their parsed form, and the message for each fault. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadProfile } from '../../config/profile.ts';
import { car } from './car.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-profile-'));
  writeFileSync(join(folder, 'car.dbc'), 'VERSION ""\n');
  writeFileSync(join(folder, 'set.json'), '{ "commands": [] }');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(text: string) {
  const file = join(folder, 'profile.yaml');
  writeFileSync(file, text);
  return loadProfile(file, { shipped: folder });
}

const send =
  'send: { message: CMD, signals: { Lock: 1 }, every: 50ms, for: 500ms, counter: N, checksum: { signal: C, method: sum } }';
const routine = 'routine: { identifier: 0x0201, option: "01" }';
const io = 'io: { identifier: 0xD010, control: shortTermAdjustment, state: "03FF" }';
const uds = (members: string, ...changes: [string, string][]) => car([send, `uds: { ${members} }`], ...changes);

describe('a diagnostic command', () => {
  test('can be a routine, which runs to its end in an extended session', () => {
    const { profile, diagnostics } = load(uds(`request: 0x7A6, ${routine}`));
    expect(diagnostics).toEqual([]);
    expect(profile?.commands['doors.lock']).toEqual({
      uds: {
        bus: 'body',
        address: { request: 0x7a6, extended: false },
        session: 3,
        service: { kind: 'routine', identifier: 0x0201, option: '01' },
        hold: 0,
        release: false,
        line: 21,
      },
      confirm: { path: 'doorsState.lockedStates', includes: 'Locked' },
      within: 5000,
      line: 20,
    });
  });

  test('can be an output, which is held and returned', () => {
    const security = 'security: { level: 0x11, key: acme, constant: "0aFF" }';
    const { profile, diagnostics } = load(
      uds(`request: 0x18DA10F1, response: 0x18DAF110, session: 0x40, ${security}, ${io}, hold: 2s`),
    );
    expect(diagnostics).toEqual([]);
    expect(profile?.commands['doors.lock']).toMatchObject({
      uds: {
        address: { request: 0x18da10f1, extended: true, response: 0x18daf110 },
        session: 0x40,
        security: { level: 0x11, key: 'acme', constant: '0aFF' },
        service: { kind: 'io', identifier: 0xd010, control: 'shortTermAdjustment', state: '03FF' },
        hold: 2000,
        release: true,
      },
    });
  });

  test('uses the OBD bus by default, if there is one', () => {
    const two: [string, string] = ['[car.dbc] }', '[car.dbc] }\n  - { name: plug, obd: { signalsets: [set.json] } }'];
    const { profile, diagnostics } = load(uds(`request: 0x7E0, ${routine}, hold: 1s, release: false`, two));
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(profile?.commands['doors.lock']).toMatchObject({ uds: { bus: 'plug', hold: 1000, release: false } });
  });
});

describe('one fault causes one finding', () => {
  const cases: [what: string, text: () => string, line: number, message: RegExp, fix?: RegExp][] = [
    ['neither send nor uds', () => car([send, '']), 20, /exactly one of `send` and `uds`/],
    [
      'both send and uds',
      () => car([send, `${send}\n      uds: { request: 0x7A6, ${routine} }`]),
      20,
      /exactly one of `send`/,
    ],
    ['no service', () => uds('request: 0x7A6'), 21, /exactly one of `io` and `routine`/],
    ['two services', () => uds(`request: 0x7A6, ${routine}, ${io}, hold: 1s`), 21, /exactly one of `io` and/],
    ['no address', () => uds(routine), 21, /member "request" is missing/],
    ['the functional address', () => uds(`request: 0x7DF, ${routine}`), 21, /address of all control units/, /0x7E0/],
    [
      'the functional address with 29 bits',
      () => uds(`request: 0x18DB33F1, ${routine}`),
      21,
      /address of all control units/,
    ],
    ['address too long', () => uds(`request: 0x20000000, ${routine}`), 21, /request must be/],
    ['lengths that differ', () => uds(`request: 0x7A6, response: 0x18DAF110, ${routine}`), 21, /both have 11 bits/],
    [
      'a source without a target',
      () => uds(`request: 0x7A6, source: 0xF1, ${routine}`),
      21,
      /`source` without `target`/,
    ],
    ['default session', () => uds(`request: 0x7A6, session: 1, ${routine}`), 21, /no end that would return control/],
    ['programming', () => uds(`request: 0x7A6, session: 2, ${routine}`), 21, /does not do its work/, /0x03/],
    ['no such session', () => uds(`request: 0x7A6, session: 0x20, ${routine}`), 21, /there is no session 32/],
    ['even level', () => uds(`request: 0x7A6, security: { level: 2, key: xor }, ${routine}`), 21, /odd/, /write 3/],
    ['a path as key', () => uds(`request: 0x7A6, security: { level: 1, key: ../x }, ${routine}`), 21, /key must be/],
    ['half a byte', () => uds('request: 0x7A6, routine: { identifier: 1, option: "123" }'), 21, /option must be pairs/],
    [
      'a number as bytes',
      () => uds('request: 0x7A6, routine: { identifier: 1, option: 12 }'),
      21,
      /option must be pairs/,
    ],
    ['an output without hold', () => uds(`request: 0x7A6, ${io}`), 21, /would return control at once/, /hold:/],
    ['release without hold', () => uds(`request: 0x7A6, ${routine}, release: false`), 21, /`release` without `hold`/],
    ['held too long', () => uds(`request: 0x7A6, ${io}, hold: 6s`), 21, /still be held/, /`within` longer/],
    [
      'an adjustment without a state',
      () => uds('request: 0x7A6, io: { identifier: 1, control: shortTermAdjustment }, hold: 1s'),
      21,
      /value of the adjustment is missing/,
    ],
    [
      'a state for a control without one',
      () => uds('request: 0x7A6, io: { identifier: 1, control: resetToDefault, state: "00" }, hold: 1s'),
      21,
      /resetToDefault has no state/,
    ],
    ['unknown bus', () => uds(`bus: bodi, request: 0x7A6, ${routine}`), 21, /no bus "bodi"/, /did you mean body/],
    [
      'a bus that is a GNSS receiver',
      () => uds(`bus: sky, request: 0x7A6, ${routine}`, ['[car.dbc] }', '[car.dbc] }\n  - { name: sky, gnss: true }']),
      22,
      /a receiver is not a control unit/,
    ],
    [
      'a wake-up action',
      () => uds(`request: 0x7A6, ${routine}`, ['  doors:\n    lock:', '  wakeUp:\n    wake:']),
      21,
      /that sleep/,
    ],
    [
      'a navigation action',
      () => uds(`request: 0x7A6, ${routine}`, ['  doors:\n    lock:', '  navigation:\n    send:']),
      21,
      /a destination/,
    ],
  ];
  test.each(cases)('%s', (_, text, line, message, fix) => {
    const { profile, diagnostics } = load(text());
    expect(profile).toBeUndefined();
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors.map((error) => error.message)).toEqual([expect.stringMatching(message)]);
    expect(errors[0]).toMatchObject({ file: join(folder, 'profile.yaml'), line });
    if (fix !== undefined) expect(errors[0]?.fix).toMatch(fix);
  });
});
