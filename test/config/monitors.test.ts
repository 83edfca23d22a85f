/** Monitors written by people, in the section of vigie.yaml or in separate files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';
import { readMonitorsFile } from '../../config/monitors.ts';

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-monitors-'));
  file = join(folder, 'monitors.yaml');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const two = `- monitorId: fast
  monitor:
    label: Too fast
    triggerParam:
      triggers:
        - name: fast
          data: { data: vehicle.kinetic.speed, op: greaterThan, value: ['130'] }
      boolExp: fast
- monitorId: away
  status: Paused
  monitor:
    label: Away
    triggerParam:
      triggers:
        - name: paris
          zone: { transition: Out, place: { radius: 20, center: { longitude: 2.35, latitude: 48.85 } } }
      boolExp: paris
`;

function read(text: string, id?: string) {
  writeFileSync(file, text);
  return readMonitorsFile(file, id);
}

function changed(from: string, to: string): string {
  if (!two.includes(from)) throw new Error(`there is no ${from}`);
  return two.replace(from, to);
}

describe('a file of monitors', () => {
  test('can be a list, in YAML or JSON', () => {
    const { monitors = [], diagnostics } = read(two);
    expect(diagnostics).toEqual([]);
    expect(monitors).toMatchObject([
      { monitorId: 'fast', monitor: { label: 'Too fast' } },
      { monitorId: 'away', status: 'Paused', monitor: { label: 'Away' } },
    ]);
    expect(read(JSON.stringify(monitors))).toEqual({ monitors, diagnostics: [] });
  });

  test('can be one monitor in the format that the interface returns', () => {
    const [fast] = read(two).monitors ?? [];
    const shown = { ...fast, status: 'Running', _links: {}, createdAt: '2026-01-01T00:00:00Z', updatedAt: 'x' };
    expect(read(JSON.stringify(shown)).monitors).toEqual([{ ...fast, status: 'Running' }]);
  });

  test('can be one monitor in the format that the interface accepts, if the id is given separately', () => {
    const [fast] = read(two).monitors ?? [];
    const bare = JSON.stringify(fast?.monitor);
    expect(read(bare, 'mine').monitors).toEqual([{ monitorId: 'mine', monitor: fast?.monitor }]);
    expect(read(bare).monitors).toBeUndefined();
  });

  test.each<[what: string, text: () => string, line: number, message: RegExp]>([
    ['an unknown operator', () => changed('op: greaterThan', 'op: above'), 7, /op: must be one of/],
    ['an unknown name in the expression', () => changed('boolExp: fast', 'boolExp: slow'), 8, /slow/],
    ['a radius of nothing', () => changed('radius: 20', 'radius: 0'), 16, /radius/],
    ['no label', () => changed('    label: Too fast\n', ''), 2, /label/],
    ['no triggers', () => changed('boolExp: paris', 'boolExpr: paris'), 13, /boolExp/],
    ['the same id twice', () => changed('monitorId: away', 'monitorId: fast'), 9, /there are two monitors/],
    ['an id with a blank', () => changed('monitorId: fast', 'monitorId: too fast'), 1, /1 to 64 letters/],
    ['no id', () => changed('monitorId: away', 'createdAt: now'), 9, /needs a monitorId/],
    ['another status', () => changed('status: Paused', 'status: Failed'), 10, /Running, Paused/],
    ['an unknown member', () => changed('status: Paused', 'state: Paused'), 10, /unknown member "state"/],
    ['a list in a list', () => `${two}- []\n`, 18, /not a monitor/],
    [
      'an invalid address',
      () =>
        `${two}  \n`.replace(
          'boolExp: fast',
          "boolExp: fast\n    subscribeParam: { callback: { webhook: { target: 'nowhere', name: n } } }",
        ),
      9,
      /target/,
    ],
  ])('%s is a finding with its line', (_what, text, line, message) => {
    const { monitors, diagnostics } = read(text());
    expect(monitors).toBeUndefined();
    expect(diagnostics).toMatchObject([{ file, line, severity: 'error', message: expect.stringMatching(message) }]);
  });

  test('causes a finding if it cannot be read', () => {
    expect(readMonitorsFile(join(folder, 'none.yaml'))).toMatchObject({
      diagnostics: [{ severity: 'error', line: 0 }],
    });
    expect(read('[').monitors).toBeUndefined();
    expect(read('text').diagnostics).toMatchObject([{ message: expect.stringContaining('not a monitor') }]);
  });

  test('never causes an exception, whatever its content', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('', '  - monitorId: a\n    monitor: '), (value, before) => {
        const { monitors, diagnostics } = read(`${before}${JSON.stringify(value)}`);
        expect(monitors === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
      }),
    );
  });
});

describe('the section monitors', () => {
  const load = (monitors: string) => {
    const path = join(folder, 'vigie.yaml');
    writeFileSync(
      path,
      `configuration: 1
vin: VF30A00000B000042
profile: bench
can: [{ bus: body, simulated: true }]
mqtt: { url: mqtt://localhost }
monitors:${monitors}`,
    );
    return loadConfiguration(path, {});
  };

  test('can name a file relative to the configuration, which is read later', () => {
    expect(load(' { file: rules/none.yaml }\n').configuration?.monitors).toEqual({
      file: join(folder, 'rules/none.yaml'),
    });
  });

  test('can be a list, with its faults reported for the configuration', () => {
    const inline = (text: string) => `\n${text.replaceAll(/^/gm, '  ')}\n`;
    expect(load(inline(two)).configuration?.monitors).toMatchObject({
      list: [{ monitorId: 'fast' }, { monitorId: 'away' }],
    });
    const { configuration, diagnostics } = load(inline(changed('op: greaterThan', 'op: above')));
    expect(configuration).toBeUndefined();
    expect(diagnostics).toMatchObject([{ line: 13, message: expect.stringContaining('op') }]);
  });

  test.each([
    [' { files: a }\n', /"file"/],
    [' [7]\n', /must be a monitor/],
    [' all\n', /must be a list of monitors/],
    [' {}\n', /"file" is missing/],
  ])('containing%s causes a finding', (text, message) => {
    const { configuration, diagnostics } = load(text);
    expect(configuration).toBeUndefined();
    expect(diagnostics.map((one) => one.message).join('\n')).toMatch(message);
  });
});
