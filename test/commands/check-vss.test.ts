/** `vigie check --vss`: custom signals compared with a specification exported by vss-tools. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inspectVehicle } from '../../assembly/vehicle.ts';
import { compareWithVss } from '../../assembly/vss.ts';
import { readVss } from '../../config/vss.ts';
import { convertUnit } from '../../protocol/signals/units.ts';
import { vigie } from '../rig/bench.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-check-vss-'));
  file('car.dbc', DBC);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const DBC = `VERSION ""
BU_: ECU
BO_ 256 PACK: 8 ECU
 SG_ CellMax : 0|16@1+ (0.001,0) [2|4.5] "V" ECU
 SG_ Temp : 16|8@1+ (1,-40) [0|0] "degF" ECU
 SG_ Charge : 24|8@1+ (0.5,0) [0|100] "%" ECU
 SG_ Plug : 32|2@1+ (1,0) [0|3] "" ECU
 SG_ Open : 34|1@1+ (1,0) [0|1] "" ECU
BO_ 257 TYRE: 8 ECU
 SG_ Pressure : 0|8@1+ (2,0) [0|510] "kPa" ECU
VAL_ 256 Plug 0 "Open" 1 "Closed" 2 "Halfway" ;
`;

const branch = (children: object) => ({ type: 'branch', description: 'made up', children });
const sensor = (datatype: string, more: object = {}) => ({ type: 'sensor', datatype, description: 'made up', ...more });

const SPECIFICATION = {
  Vehicle: branch({
    Speed: sensor('float', { unit: 'km/h' }),
    Powertrain: branch({
      TractionBattery: branch({
        CellVoltage: branch({
          Max: sensor('float', { unit: 'V', min: 0, max: 4 }),
          Min: sensor('float', { unit: 'V' }),
        }),
        Temperature: branch({ Average: sensor('float', { unit: 'celsius' }) }),
        StateOfCharge: branch({ Current: sensor('uint8', { unit: 'percent', max: 100 }) }),
        IsOpen: sensor('boolean'),
        SerialNumber: { type: 'attribute', datatype: 'string' },
        Modules: sensor('uint8[]'),
      }),
    }),
    Door: branch({ Position: { ...sensor('string', { allowed: ['OPEN', 'CLOSED'] }), type: 'actuator' } }),
    Tire: branch({ Pressure: sensor('uint16', { unit: 'kPa', deprecation: 'v5 use Wheel' }) }),
  }),
};

/** Severity, line among the signals, message and fix of each finding about the profile. */
function found(signals: string, specification: object = SPECIFICATION): string[] {
  const profile = file(
    'profile.yaml',
    `profile: 1\nname: made-up\nbuses:\n  - { name: can, dbc: [car.dbc] }\nstatus: {}\nsignals:\n${signals}`,
  );
  const { vehicle, diagnostics } = inspectVehicle(profile);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  if (vehicle === undefined) throw new Error('the profile cannot be used');
  const tree = readVss(file('vss.json', JSON.stringify(specification)));
  return compareWithVss(vehicle, tree).map(
    ({ severity, line, message, fix }) => `${severity} ${line - 6}: ${message}${fix === undefined ? '' : ` (${fix})`}`,
  );
}

const battery = 'Vehicle.Powertrain.TractionBattery';

test('check --vss finds nothing in signals with the specified type and unit, however the unit is spelled', () => {
  const signals = `  ${battery}.StateOfCharge.Current: { signal: PACK.Charge, resolution: 1, unit: '%' }
  ${battery}.IsOpen: { signal: PACK.Open }
  ${battery}.CellVoltage.Min: { signal: PACK.CellMax }
`;
  expect(found(signals)).toEqual(['info -6: of 3 custom signals the specification names 3']);
});

test('check --vss warns of another unit, and prints the scale and offset for the specified one', () => {
  const signals = `  ${battery}.Temperature.Average: { signal: PACK.Temp }
  Vehicle.Speed: { signal: PACK.Temp, unit: m/s, scale: 2, offset: 1, resolution: 1 }
  ${battery}.CellVoltage.Min: { signal: PACK.Temp }
  ${battery}.StateOfCharge.Current: { signal: PACK.Open, kind: quantity }
`;
  expect(found(signals)).toEqual([
    `warning 1: ${battery}.Temperature.Average has the unit degF, the specification has celsius (write unit: celsius, scale: 0.555555556, offset: -17.7777778)`,
    'warning 2: Vehicle.Speed has the unit m/s, the specification has km/h (write unit: km/h, scale: 7.2, offset: 3.6)',
    `warning 3: ${battery}.CellVoltage.Min has the unit degF, the specification has V (take another name or unit)`,
    `warning 4: ${battery}.StateOfCharge.Current has no unit, the specification has percent (write unit: percent if it is that)`,
    'info -6: of 4 custom signals the specification names 4',
  ]);
});

test('check --vss warns of another type, of names that are not allowed, and of fractions in integer signals', () => {
  const signals = `  ${battery}.IsOpen: { signal: PACK.Charge }
  Vehicle.Door.Position: { signal: PACK.Plug }
  ${battery}.StateOfCharge.Current: { signal: PACK.Charge }
  ${battery}.SerialNumber: { signal: PACK.Temp }
  ${battery}.Modules: { signal: PACK.CellMax }
  ${battery}.CellVoltage: { signal: PACK.CellMax }
`;
  expect(found(signals)).toEqual([
    `warning 1: ${battery}.IsOpen is recorded as quantity, the specification has the type boolean (write kind: flag)`,
    'warning 2: Vehicle.Door.Position has names that the specification does not allow: Open, Closed, Halfway (did you mean OPEN?)',
    `warning 3: ${battery}.StateOfCharge.Current is recorded in steps of 0.5, the specification has whole numbers (uint8) (write resolution: 1, or keep the steps for receivers that take them)`,
    `warning 4: ${battery}.SerialNumber is recorded as quantity, the specification has the type string (take another name)`,
    `warning 5: ${battery}.Modules is recorded as quantity, the specification has the type uint8[] (take another name)`,
    `warning 6: ${battery}.CellVoltage is a branch of the specification, not a signal (name a signal below it)`,
    'info -6: of 6 custom signals the specification names 5',
  ]);
});

test('check --vss suggests the specified names that share most parts with an unknown name', () => {
  const signals = `  Vehicle.Battery.CellVoltage.Max: { signal: PACK.CellMax }
  Tire.Presure: { signal: TYRE.Pressure }
  Vehicle.Own.Torque: { signal: PACK.Temp }
  Own.*: { signal: PACK.* }
`;
  expect(found(signals)).toEqual([
    `info 1: the specification has no Vehicle.Battery.CellVoltage.Max (did you mean ${battery}.CellVoltage.Max?)`,
    'info 2: the specification has no Tire.Presure (did you mean Vehicle.Tire.Pressure?)',
    'info -6: of 6 custom signals the specification names 0',
  ]);
});

test('check --vss reports DBC ranges beyond the specification, deprecated names, and names that are not expanded', () => {
  const { Vehicle } = SPECIFICATION;
  const rows = { type: 'branch', instances: ['Row[1,2]'], children: { Speed: sensor('float') } };
  const specification = { Vehicle: branch({ ...Vehicle.children, Axle: rows }) };
  const signals = `  ${battery}.CellVoltage.Max: { signal: PACK.CellMax }
  Vehicle.Tire.Pressure: { signal: TYRE.Pressure }
`;
  expect(found(signals, specification)).toEqual([
    expect.stringMatching(/^warning .*Vehicle\.Axle has `instances` that are not expanded.*--no-expand/),
    `info 1: the DBC lets ${battery}.CellVoltage.Max be 2 to 4.5 V (the specification has from 0 to 4)`,
    'info 2: Vehicle.Tire.Pressure is deprecated in the specification: v5 use Wheel',
    'info -6: of 2 custom signals the specification names 2',
  ]);
});

test.each([
  ['km/h', 'm/s', { scale: 0.277777777778, offset: 0 }],
  ['°F', 'Celsius', { scale: 0.555555555556, offset: -17.7777777778 }],
  ['celsius', 'K', { scale: 1, offset: 273.15 }],
  ['m/s²', 'm/s^2', { scale: 1, offset: 0 }],
  ['kN', 'N', { scale: 1000, offset: 0 }],
  ['kn', 'km/h', { scale: 1.852, offset: 0 }],
  ['bar', 'kPa', { scale: 100, offset: 0 }],
  ['Furlong', 'furlong', { scale: 1, offset: 0 }],
  ['furlong', 'm', undefined],
  ['V', 'A', undefined],
])('%s becomes %s by %o', (from, to, conversion) => {
  expect(convertUnit(from, to)).toEqual(conversion);
});

test.each([
  ['no JSON', 'Vehicle:', /vss\.json: it is not JSON: .*give the file that `vspec export json`/],
  ['a list', '[]', /the contents are not a map/],
  ['a node without type', '{"Vehicle":{"children":{}}}', /Vehicle has no `type`/],
  ['a signal without datatype', '{"V":{"type":"branch","children":{"A":{"type":"sensor"}}}}', /V\.A has no `datatype`/],
  ['no signal', '{"V":{"type":"branch","children":{}}}', /no sensor, actuator or attribute/],
  [
    'too many branches',
    `${'{"V":{"type":"branch","children":'.repeat(80)}{}${'}}'.repeat(80)}`,
    /nested deeper than 64/,
  ],
])('check --vss refuses a file with %s', (_, text, message) => {
  expect(() => readVss(file('vss.json', text))).toThrow(message);
});

test('check --vss prints its findings and succeeds, and reports a missing profile or file', async () => {
  const vss = file('good.json', JSON.stringify(SPECIFICATION));
  const profile = file(
    'command.yaml',
    `profile: 1\nname: made-up\nbuses:\n  - { name: can, dbc: [car.dbc] }\nstatus: {}\nsignals:\n  ${battery}.Temperature.Average: { signal: PACK.Temp }\n`,
  );
  const checked = await vigie('check', '--profile', profile, '--vss', vss);
  expect(checked.status, checked.stderr).toBe(0);
  const [first] = checked.stdout.split('\n').map((line) => (line === '' ? undefined : JSON.parse(line)));
  expect(first).toMatchObject({ line: 7, severity: 'warning', fix: expect.stringMatching(/^write unit: celsius/) });
  const alone = await vigie('check', '--dbc', join(folder, 'car.dbc'), '--vss', vss);
  expect([alone.status, alone.stderr]).toEqual([2, expect.stringContaining('--vss compares the signals of a profile')]);
  const missing = await vigie('check', '--profile', profile, '--vss', join(folder, 'none.json'));
  expect([missing.status, missing.stderr]).toEqual([
    2,
    expect.stringContaining('none.json: the specification cannot be read: it does not exist'),
  ]);
});
