import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareTraffic } from '../../../adapters/can/inspect/index.ts';
import { differenceLinesOf, differenceText } from '../../../commands/inspect/difference-lines.ts';
import { differenceLine } from '../../../commands/inspect/schema.ts';
import { trafficOf } from '../../adapters/can/inspect/frames.ts';
import { vigie } from '../../rig/bench.ts';
import { smallCar } from '../small-car.ts';

let car: ReturnType<typeof smallCar>;
beforeAll(() => {
  car = smallCar();
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

const log = (name: string, lines: readonly string[]): string => {
  const file = join(car.folder, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
};

describe('vigie inspect --compare', () => {
  const shut = () => log('shut.log', ['(1.0) can0 200#0207', '(2.0) can0 200#0207']);
  const open = () => log('open.log', ['(5.0) can0 200#0207', '(6.5) can0 200#0307', '(7.0) can0 7A1#00']);

  test('inspect --compare prints the door bit first, with its signal and the time of its change', async () => {
    const { status, stdout, stderr } = await vigie('inspect', shut(), '--dbc', car.dbc, '--compare', open());
    expect(status, stderr).toBe(0);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    for (const line of lines) expect([...Value.Errors(differenceLine, line)]).toEqual([]);
    expect(lines).toMatchObject([
      {
        what: 'changes',
        bus: 'can0',
        id: 0x200,
        extended: false,
        message: 'BODY',
        start: 0,
        bits: 1,
        first: { frames: 2, value: 0 },
        second: { frames: 2, flips: 1, changedAfter: 1.5 },
        signals: [{ signal: 'DoorDriver', first: 'Shut' }],
        protection: false,
      },
      { what: 'only', id: 0x7a1, first: { frames: 0 }, second: { frames: 1 } },
    ]);
  });

  test('inspect --compare prints a table for people', async () => {
    const { stdout } = await vigie('inspect', shut(), '--format', 'text', '--dbc', car.dbc, '--compare', open());
    expect(stdout.split('\n')).toEqual([
      ' id  place         first   second',
      '200  byte 0 bit 0  0       1× from 1.5 s  BODY, DoorDriver (Shut → …)',
      '7A1                absent  1 frame',
      '',
    ]);
    const same = await vigie('inspect', shut(), '--format', 'text', '--compare', shut());
    expect([same.status, same.stdout]).toEqual([0, 'no difference\n']);
  });

  test('inspect --compare filters the frames of both logs', async () => {
    const { stdout } = await vigie('inspect', shut(), '--ids', '7A1', '--compare', open());
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  test.each([60, 80, 120])('the table of inspect --compare fits %d columns', (width) => {
    const frames = (shift: number) =>
      trafficOf(
        [0x98fe_ee00, 0x123].flatMap((id) =>
          Array.from({ length: 50 }, (_, i) => ({
            at: i * 1000,
            id,
            data: [(i * shift) & 0xff, shift, 255 * shift, 0],
          })),
        ),
      );
    const lines = differenceLinesOf(compareTraffic(frames(0), frames(1)), [], { first: 0, second: 0 }).map((line) => ({
      ...line,
      message: 'A_MESSAGE_WITH_A_NAME_OF_32_CHARS',
      signals: [{ signal: 'A_signal_with_a_name_of_32_chars', first: 'Shut', second: 'Open' }],
    }));
    expect(lines.length).toBeGreaterThan(3);
    const text = differenceText(lines, width);
    expect(text.filter((line) => [...line].length > width)).toEqual([]);
  });
});
