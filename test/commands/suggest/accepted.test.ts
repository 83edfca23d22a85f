/** Profiles suggested for DBCs with difficult names: each passes `check`. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { inspectVehicle, readDbc } from '../../../assembly/vehicle.ts';
import { writeSuggestions } from '../../../commands/suggest/suggestion-file.ts';
import { describeShared, sharedData } from '../../shared.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-accepted-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Errors of the profile suggested for the files. Undefined if nothing is suggested. */
function errorsOf(files: readonly string[], profile = join(folder, 'car.yaml')): unknown[] | undefined {
  rmSync(profile, { force: true });
  const databases = files.flatMap((file) => readDbc(file).database ?? []).map((database) => ({ database }));
  if (writeSuggestions(profile, databases, undefined).summary === undefined) return undefined;
  // Errors of the DBC itself are not errors of the suggestion.
  return inspectVehicle(profile).diagnostics.filter(({ file, severity }) => file === profile && severity === 'error');
}

const golden = fileURLToPath(new URL('../../golden/dbc/', import.meta.url));

test.each(readdirSync(golden).filter((name) => name.endsWith('.dbc')))(
  'check accepts the suggestion for %s',
  (name) => {
    expect(errorsOf([join(golden, name)]) ?? []).toEqual([]);
  },
);

test('check accepts suggested names that YAML would read as another type', () => {
  const odd = join(folder, 'a b');
  mkdirSync(odd);
  const dbc = join(odd, "it's: #1, [x].dbc");
  writeFileSync(
    dbc,
    `VERSION ""\n\nBU_: X\n\nBO_ 291 No: 8 X\n SG_ Vehicle_Speed : 0|16@1+ (0.01,0) [0|300] "km/h" X\n\nBO_ 292 null: 8 X\n SG_ Tür_Fahrer_offen : 0|1@1+ (1,0) [0|1] "" X\n`,
  );
  expect(errorsOf([dbc], join(odd, '- 1st: {car}.yaml'))).toEqual([]);
});

test('check accepts suggested labels and comments with line breaks and YAML syntax', () => {
  const dbc = join(folder, 'labels.dbc');
  writeFileSync(
    dbc,
    'VERSION ""\n\nBU_: X\n\nBO_ 291 BODY: 8 X\n SG_ DriverDoor : 0|2@1+ (1,0) [0|3] "" X\n SG_ P1 : 8|8@1+ (1,-40) [-40|80] "degC" X\n\n' +
      'CM_ SG_ 291 P1 "outside\n# temperature: \'x\'";\nVAL_ 291 DriverDoor 0 "closed # {x}" 1 "open: [y]" ;\n',
  );
  expect(errorsOf([dbc])).toEqual([]);
});

test('check accepts a suggestion with labels for raw values beyond the signal’s bits', () => {
  const dbc = join(folder, 'huge.dbc');
  writeFileSync(
    dbc,
    'VERSION ""\n\nBU_: X\n\nBO_ 291 BODY: 8 X\n SG_ DriverDoor : 0|2@1+ (1,0) [0|3] "" X\n SG_ OutsideTemp : 8|8@1+ (1,-40) [-40|80] "degC" X\n\n' +
      'VAL_ 291 DriverDoor 0 "closed" 1 "open" 1e30 "open" 4 "open" ;\nVAL_ 291 OutsideTemp 1e30 "invalid" 255 "invalid" ;\n',
  );
  expect(errorsOf([dbc])).toEqual([]);
});

test('an impossible cycle time gives no timeout', () => {
  const dbc = join(folder, 'slow.dbc');
  writeFileSync(
    dbc,
    'VERSION ""\n\nBU_: X\n\nBO_ 291 MOTION: 8 X\n SG_ VehicleSpeed : 0|16@1+ (0.01,0) [0|300] "km/h" X\n\n' +
      'BA_DEF_ BO_ "GenMsgCycleTime" FLOAT 0 1e40;\nBA_ "GenMsgCycleTime" BO_ 291 2e32;\n',
  );
  expect(errorsOf([dbc])).toEqual([]);
});

test('a signal beyond the longest frame is left out', () => {
  const dbc = join(folder, 'beyond.dbc');
  writeFileSync(
    dbc,
    'VERSION ""\n\nBU_: X\n\nBO_ 291 MOTION: 100 X\n SG_ VehicleSpeed : 700|16@1+ (0.01,0) [0|300] "km/h" X\n',
  );
  expect(errorsOf([dbc])).toBeUndefined();
});

test('a signal whose name another message defines differently is left out', () => {
  const twins = (factor: number): string =>
    `VERSION ""\n\nBU_: X\n\nBO_ 291 MOTION: 8 X\n SG_ VehicleSpeed : 0|16@1+ (0.01,0) [0|300] "km/h" X\n\nBO_ 292 MOTION: 8 X\n SG_ VehicleSpeed : 0|16@1+ (${factor},0) [0|300] "km/h" X\n`;
  const same = join(folder, 'same.dbc');
  const different = join(folder, 'different.dbc');
  writeFileSync(same, twins(0.01));
  writeFileSync(different, twins(0.1));
  expect(errorsOf([same])).toEqual([]);
  expect(errorsOf([different])).toBeUndefined();
});

describeShared('networks of real cars', () => {
  const folders = ['cantools', 'css', 'opendbc'].map((name) => `${sharedData}dbc/${name}`);
  const files = folders.flatMap((from) =>
    readdirSync(from)
      .filter((name) => name.endsWith('.dbc'))
      .map((name) => join(from, name)),
  );
  test.each(files)('check accepts the suggestion for %s', (file) => {
    const { diagnostics } = readDbc(file);
    if (diagnostics.some(({ severity }) => severity === 'error')) return;
    expect(errorsOf([file]) ?? []).toEqual([]);
  });
});
