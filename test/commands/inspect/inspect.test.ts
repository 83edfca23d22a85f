import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR, EXTENDED, FD, REMOTE } from '../../../agent/ports.ts';
import * as schemas from '../../../commands/inspect/schema.ts';
import { identifierLineOf, trafficText } from '../../../commands/inspect/traffic-lines.ts';
import { type TestFrame, trafficOf } from '../../adapters/can/inspect/frames.ts';
import { send } from '../../adapters/can/inspect/protect.ts';
import { vigie } from '../../rig/bench.ts';
import { smallCar } from '../small-car.ts';

let car: ReturnType<typeof smallCar>;
beforeAll(() => {
  car = smallCar();
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

/** Lines of NDJSON, each validated by the schema of its kind. */
function linesOf(stdout: string): Record<string, unknown>[] {
  const byKind = new Map(Object.values(schemas).map((schema) => [schema.properties.kind.const as string, schema]));
  return stdout
    .trim()
    .split('\n')
    .map((text) => {
      const line = JSON.parse(text) as Record<string, unknown>;
      const schema = byKind.get(line['kind'] as string);
      expect(schema, text).toBeDefined();
      expect([...Value.Errors(schema!, line)], text).toEqual([]);
      return line;
    });
}

describe('vigie inspect', () => {
  test('inspect prints a summary of each bus and identifier, by the schema', async () => {
    const { status, stdout, stderr } = await vigie('inspect', car.log, '--dbc', car.dbc);
    expect(status, stderr).toBe(0);
    const lines = linesOf(stdout);
    expect(lines[0]).toEqual({
      kind: 'bus',
      bus: 'can0',
      frames: 2200,
      remotes: 0,
      errors: 0,
      identifiers: 2,
      first: 1_700_000_000_000,
      last: 1_700_000_039_980,
    });
    expect(lines.slice(1, 3)).toMatchObject([
      {
        id: 0x100,
        extended: false,
        message: 'MOTION',
        frames: 2000,
        share: 2000 / 2200,
        period: { median: 20, jitter: 0, minimum: 20, maximum: 20 },
        lengths: { 8: 2000 },
        changed: 'ff1f000000000000',
      },
      { id: 0x200, message: 'BODY', frames: 200, changes: 3, changed: '0300', latest: '0107' },
    ]);
  });

  test('inspect combines several logs, and counts remote and error frames', async () => {
    const first = join(car.folder, 'first.log');
    const second = join(car.folder, 'second.log');
    writeFileSync(first, '(1.0) can0 123#11\n(1.1) can0 123#R\n(1.2) can0 20000080#0000000000000000\n');
    writeFileSync(second, '(7.0) can1 00000123#11\n(8.0) can0 123#12\n');
    const { stdout } = await vigie('inspect', first, second);
    expect(linesOf(stdout)).toMatchObject([
      { kind: 'bus', bus: 'can0', frames: 2, remotes: 1, errors: 1, identifiers: 1 },
      { kind: 'bus', bus: 'can1', frames: 1, identifiers: 1 },
      { kind: 'identifier', bus: 'can0', id: 0x123, extended: false, frames: 2, changed: '03' },
      { kind: 'identifier', bus: 'can1', id: 0x123, extended: true, frames: 1 },
    ]);
  });

  test('inspect ends with status 1 and a message if the logs have no frame', async () => {
    const empty = join(car.folder, 'empty.log');
    writeFileSync(empty, '(1.0) can0 123#1\n'.repeat(20));
    const { status, stdout, stderr } = await vigie('inspect', empty, '--format', 'text');
    expect([status, stdout.trim()]).toEqual([1, '']);
    expect(stderr).toContain('empty.log: the log has no frame');
  });
});

describe('the table of identifiers', () => {
  const frames: TestFrame[] = [];
  for (let i = 0; i < 1000; i++) {
    frames.push({ at: i * 10, id: 0x100, data: [i & 0xff, 0, 0, 0, 0, 0, 0, i & 15] });
    frames.push({ at: i * 10 + 1, id: 0x18feee00 | EXTENDED, data: [1, 2, i & 1, 0, 0, 0, 0, 0], bus: 1 });
  }
  frames.push({ at: 3, id: 0x200, data: new Uint8Array(64).fill(1), flags: FD });
  frames.push({ at: 4, id: 0x200, data: new Uint8Array(64).fill(3), flags: FD });
  frames.push({ at: 4, id: 0x300 | REMOTE, data: [0, 0] }, { at: 5, id: ERROR | 0x80, data: new Uint8Array(8) });
  const traffic = trafficOf(frames, ['powertrain', 'b\u001b[2J']);
  const identifiers = traffic.buses.flatMap((bus) =>
    bus.messages.map((message) =>
      identifierLineOf(bus, message, { name: 'A_MESSAGE_WITH_A_NAME_OF_32_CHARS', length: 8 }),
    ),
  );

  test.each([60, 80, 120])('the table of identifiers fits %d columns', (width) => {
    const lines = trafficText(traffic, identifiers, width);
    expect(lines.filter((line) => [...line].length > width)).toEqual([]);
    const text = lines.join(' ');
    for (const words of ['100', '18FEEE00', 'every ms', '10.00', 'FF.............F']) {
      expect(text).toContain(words);
    }
    expect(text).toContain('powertrain: 1,002 data frames, 1 remote frame, 1 error frame, 3 identifiers, 10.0 s');
  });

  test('the table marks counters and checksums by byte and bit', () => {
    const protectedFrames = Array.from({ length: 400 }, (_, i) => {
      const data = Uint8Array.of(0, 0x50, i & 0xff, (i * 7) & 0xff, (i * i) & 0xff, 0, 0, 0);
      send(data, { method: 'e2e-profile-1', dataId: 0x123, mode: 'alternating' }, i);
      return { at: i * 10, id: 0x123, data };
    });
    const { buses } = trafficOf(protectedFrames);
    const line = identifierLineOf(buses[0]!, buses[0]!.messages[0]!);
    expect(Value.Check(schemas.identifierLine, line)).toBe(true);
    const text = trafficText(trafficOf(protectedFrames), [line], Number.POSITIVE_INFINITY).join('\n');
    expect(text).toContain('counter byte 1 bits 0-3 (0 to 14)');
    expect(text).toContain('CRC-8 0x1D byte 0 (AUTOSAR E2E profile 1 or 11; Data ID 0123; 400 frames)');
  });

  test('the table has the same words at any width', () => {
    const words = (width: number) =>
      trafficText(traffic, identifiers, width)
        .join(' ')
        .match(/A_MESSAGE\w*|FD|remote frame|[.0-9A-F]{16}/g)
        ?.sort();
    expect(words(60)).toEqual(words(200));
  });

  test('names in a file cannot send control sequences to the terminal', () => {
    expect(trafficText(traffic, identifiers, 120).join('\n')).not.toContain('\u001b');
  });
});
