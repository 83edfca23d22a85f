import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { correlationText } from '../../../commands/inspect/correlation-lines.ts';
import { type CorrelationLine, correlationLine } from '../../../commands/inspect/schema.ts';
import { vigie } from '../../rig/bench.ts';
import { smallCar } from '../small-car.ts';

let car: ReturnType<typeof smallCar>;
beforeAll(() => {
  car = smallCar();
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

const table = (name: string, lines: readonly string[]): string => {
  const file = join(car.folder, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
};
const linesOf = (stdout: string): CorrelationLine[] =>
  stdout
    .trim()
    .split('\n')
    .map((text) => {
      const line = JSON.parse(text) as CorrelationLine;
      expect([...Value.Errors(correlationLine, line)], text).toEqual([]);
      return line;
    });

test('inspect --correlate finds the speed signal from phone measurements', async () => {
  // Speed of the car each second, in miles per hour with an error of 1 %.
  const rows = Array.from({ length: 38 }, (_, s) => {
    const speed = 50 + 30 * Math.sin(((s + 1) * 50) / 100);
    return `${new Date(1_700_000_000_000 + (s + 1) * 1000 + 5).toISOString()},${((speed / 1.609344) * 1.01).toFixed(2)},${s % 3}`;
  });
  const phone = table('phone.csv', ['Time,Speed [mph],Satellites', ...rows]);
  const options = ['--dbc', car.dbc, '--correlate', phone, '--reference', 'Speed'];
  const { status, stdout, stderr } = await vigie('inspect', car.log, ...options);
  expect(status, stderr).toBe(0);
  const [best] = linesOf(stdout);
  expect(best).toMatchObject({ message: 'MOTION', start: 0, bits: 16, byteOrder: 'little', signals: ['Speed'] });
  expect(best?.coefficient).toBeGreaterThan(0.9999);
  // Values are in km/h.
  expect(best?.scale).toBeCloseTo(0.0101, 4);
  const text = await vigie('inspect', car.log, ...options, '--format', 'text');
  expect(text.stdout.split('\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^ id {2}as in a DBC {6}r +scale +offset +samples$/),
    expect.stringMatching(/^100 {2}0\|16@1\+ +1\.000 +0\.0101 .* 38 {2}MOTION, Speed$/),
  ]);
});

test('inspect --correlate accepts its own CSV as a reference', async () => {
  const file = join(car.folder, 'door.csv');
  await vigie('inspect', car.log, '--dbc', car.dbc, '--signals', 'Speed', '--csv', file);
  const { stdout } = await vigie('inspect', car.log, '--correlate', file);
  expect(linesOf(stdout)[0]).toMatchObject({ id: 0x100, start: 0, bits: 16, byteOrder: 'little' });
});

test('inspect --correlate asks for the column and lists those that exist', async () => {
  const two = table('two.csv', ['time,Speed,Gear', '1700000001.5,5,1', '1700000002.5,6,1']);
  const { status, stderr } = await vigie('inspect', car.log, '--correlate', two);
  expect([status, stderr]).toEqual([2, expect.stringContaining('Give --reference NAME of Speed, Gear')]);
  const wrong = await vigie('inspect', car.log, '--correlate', two, '--reference', 'Sped');
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean Speed')]);
});

test('inspect --correlate reports a table of another time', async () => {
  const other = table('other.csv', [
    'time,value',
    ...Array.from({ length: 20 }, (_, i) => `${1_600_000_000.5 + i},${i}`),
  ]);
  const { status, stderr } = await vigie('inspect', car.log, '--correlate', other);
  expect([status, stderr]).toEqual([1, expect.stringContaining('other.csv: no time of it lies within the logs')]);
});

test.each([60, 80, 120])('the table of correlations fits %d columns', (width) => {
  const line: CorrelationLine = {
    kind: 'correlation',
    bus: 'powertrain',
    id: 0x18fe_ee00,
    extended: true,
    message: 'A_MESSAGE_WITH_A_NAME_OF_32_CHARS',
    start: 511,
    bits: 16,
    byteOrder: 'big',
    signed: true,
    coefficient: -0.99951,
    scale: -0.012345678,
    offset: -123456.789,
    samples: 10_000,
    signals: ['A_signal_with_a_name_of_32_chars'],
  };
  const text = correlationText([line, { ...line, bus: 'body' }], width);
  expect(text.filter((one) => [...one].length > width)).toEqual([]);
  expect(text.join('\n')).toContain('511|16@0-');
});
