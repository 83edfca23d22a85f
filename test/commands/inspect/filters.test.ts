/** Filter options of `decode` and `inspect`, and signals in the output of `inspect`. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SignalObserver, signalsOf } from '../../../adapters/can/inspect/index.ts';
import { readDbc } from '../../../assembly/vehicle.ts';
import { CsvExport } from '../../../commands/inspect/csv.ts';
import { signalLineOf, signalText } from '../../../commands/inspect/signal-lines.ts';
import { batchOf } from '../../adapters/can/inspect/frames.ts';
import { vigie } from '../../rig/bench.ts';
import { smallCar } from '../small-car.ts';

type Line = Readonly<Record<string, unknown>>;

let car: ReturnType<typeof smallCar>;
beforeAll(() => {
  car = smallCar();
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

const run = async (...args: string[]): Promise<Line[]> => {
  const { status, stdout, stderr } = await vigie(args[0]!, car.log, ...args.slice(1));
  expect(status, stderr).toBe(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
};
const ofKind = (lines: readonly Line[], kind: string) => lines.filter((line) => line['kind'] === kind);

describe('filters of decode and inspect', () => {
  test.each<[string[], number]>([
    [['--ids', '200'], 200],
    [['--ids', '000-1FF'], 2000],
    [['--messages', 'BODY'], 200],
    [['--signals', 'Speed'], 2000],
    [['--from', '10', '--to', '10.1'], 7],
    [['--from', '2023-11-14T22:13:59.9Z'], 5],
    [['--messages', 'BODY', '--signals', 'DoorDriver', '--changes'], 4],
    [['--ids', '200', '--changes'], 4],
  ])('decode and inspect select the same frames with %j', async (filters, frames) => {
    expect(await run('decode', '--dbc', car.dbc, ...filters)).toHaveLength(frames);
    const [bus] = await run('inspect', '--dbc', car.dbc, ...filters);
    expect(bus).toMatchObject({ kind: 'bus', frames });
  });

  test('--changes decodes a frame once if only a bit outside the DBC changes', async () => {
    const { stdout } = await vigie('decode', car.log, '--dbc', car.dbc, '--signals', 'BeltDriver', '--changes');
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Line)['signals'])).toEqual(
      [1, 0, 1, 0].map((belt) => ({ BeltDriver: belt })),
    );
  });

  test('raw frames are filtered without a DBC', async () => {
    const lines = await run('decode', '--raw', '--ids', '200', '--changes');
    expect(lines.map(({ data }) => data)).toEqual(['0207', '0107', '0207', '0107']);
  });

  test('an empty selection ends with status 1 and names the options that caused it', async () => {
    for (const args of [
      ['inspect', car.log, '--ids', '7FF'],
      ['decode', car.log, '--raw', '--ids', '7FF'],
    ]) {
      const { status, stderr, stdout } = await vigie(...args);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toContain('--ids');
    }
  });

  test('inspect --changes leaves out constant frames and signals', async () => {
    const lines = await run('inspect', '--dbc', car.dbc, '--stats', '--changes', '--from', '0', '--to', '9');
    expect(ofKind(lines, 'identifier').map(({ message }) => message)).toEqual(['MOTION']);
    expect(ofKind(lines, 'signal').map(({ signal }) => signal)).toEqual(['Speed']);
  });
});

describe('inspect --stats', () => {
  test('inspect --stats shows minimum, maximum and number of values of each signal', async () => {
    const lines = ofKind(await run('inspect', '--dbc', car.dbc, '--stats'), 'signal');
    expect(lines.map(({ message, signal }) => `${message}.${signal}`)).toEqual([
      'MOTION.Speed',
      'BODY.DoorDriver',
      'BODY.BeltDriver',
      'BODY.BigCounter',
    ]);
    expect(lines[0]).toMatchObject({ unit: 'km/h', frames: 2000, minimum: 20, maximum: 80, more: true, first: 50 });
    expect(lines[1]).toEqual({
      kind: 'signal',
      message: 'BODY',
      signal: 'DoorDriver',
      unit: '',
      frames: 200,
      minimum: 0,
      maximum: 1,
      first: 0,
      last: 1,
      firstAt: 1_700_000_000_000,
      lastAt: 1_700_000_039_800,
      distinct: 2,
      more: false,
      changes: 3,
      falls: 1,
      values: [
        { value: 0, name: 'Shut', frames: 100 },
        { value: 1, name: 'Open', frames: 100 },
      ],
    });
    expect(lines[3]).toMatchObject({ distinct: 1, values: [{ value: 7, frames: 200 }] });
  });

  test.each([60, 80, 120])('inspect --stats fits %d columns, even with names of 32 characters', (width) => {
    const { database } = readDbc(car.dbc);
    const { statistics } = new SignalObserver([{ database: database! }]);
    statistics[0]!.add(50, 5000, 0);
    statistics[1]!.add(1, 1, 0);
    const lines = statistics.map(signalLineOf).map((line) => ({
      ...line,
      message: 'A_MESSAGE_WITH_A_NAME_OF_32_CHARS',
      unit: 'a_rather_long_unit',
    }));
    const text = signalText(lines, width);
    expect(text.filter((line) => [...line].length > width)).toEqual([]);
    expect(text.join('\n')).toContain('1 Open (1)');
    expect(text.at(-1)).toBe('2 of 4 signals not seen');
    // Each name is complete, wrapped or not.
    expect(text.join('').replaceAll(/\s/g, '')).toContain('A_MESSAGE');
  });
});

describe('inspect --csv', () => {
  const exported = (frames: Parameters<typeof batchOf>[0]) => {
    const database = readDbc(car.dbc).database!;
    const lines: string[] = [];
    const csv = new CsvExport(signalsOf([{ database }]), [{ database }], { line: (text) => lines.push(text) });
    csv.add(batchOf(frames), ['can0']);
    csv.endLog();
    return lines;
  };

  test('inspect --csv writes a row when a value changes, with the last values of the other signals', () => {
    expect(
      exported([
        { at: 1000, id: 0x100, data: [0x10, 0x27, 0, 0, 0, 0, 0, 0] },
        { at: 1000, id: 0x200, data: [1, 7] },
        { at: 1020, id: 0x100, data: [0x10, 0x27, 0, 0, 0, 0, 0, 1] },
        { at: 1040, id: 0x100, data: [0x11, 0x27, 0, 0, 0, 0, 0, 1] },
        { at: 1060, id: 0x200, data: [3, 7] },
        { at: 1080, id: 0x200, data: [3, 7] },
      ]),
    ).toEqual([
      'time,MOTION.Speed [km/h],BODY.DoorDriver,BODY.BeltDriver,BODY.BigCounter',
      '1.000000,100,1,0,7',
      '1.040000,100.01,1,0,7',
      '1.060000,100.01,1,1,7',
      '1.080000,100.01,1,1,7',
    ]);
  });

  test('inspect --csv leaves a value empty before its first frame, and writes no row without a value', () => {
    expect(exported([{ at: 1000, id: 0x200, data: [0, 0] }]).slice(1)).toEqual(['1.000000,,0,0,0']);
    expect(exported([{ at: 1000, id: 0x300, data: [0, 0] }])).toHaveLength(1);
  });

  test('inspect --csv writes to a file in addition to the table, or to standard output instead', async () => {
    const file = join(car.folder, 'speed.csv');
    const options = ['--dbc', car.dbc, '--signals', 'Speed', '--csv'];
    const lines = await run('inspect', ...options, file);
    expect(ofKind(lines, 'bus')).toHaveLength(1);
    const { stdout } = await vigie('inspect', car.log, ...options, '-');
    expect(readFileSync(file, 'utf8')).toBe(stdout);
    const rows = stdout.trim().split('\n');
    expect(rows[0]).toBe('time,MOTION.Speed [km/h]');
    expect(rows[1]).toBe('1700000000.000000,50');
    const speeds = rows.slice(1).map((row) => Number(row.split(',')[1]));
    expect([Math.min(...speeds), Math.max(...speeds)]).toEqual([20, 80]);
  });
});

test('inspect ranks several DBCs, best match first', async () => {
  const other = car.file('other.dbc', 'VERSION ""\nBU_: ECU\nBO_ 256 LONGER: 6 ECU\nBO_ 1 OTHER: 8 ECU\n');
  const lines = await run('inspect', '--dbc', other, car.dbc);
  expect(ofKind(lines, 'database')).toMatchObject([
    { file: car.dbc, frames: 2200, known: 2200, fitting: 2200, messages: 2, ofMessages: 2, signals: 4, ofSignals: 4 },
    { file: other, frames: 2200, known: 2000, fitting: 0, messages: 1, ofMessages: 2, signals: 0, ofSignals: 0 },
  ]);
  // The first DBC with the identifier names it, as in decode.
  expect(ofKind(lines, 'identifier')[0]).toMatchObject({ message: 'LONGER', messageLength: 6 });
});
