/** `vigie inspect --dbc-out`. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, parseDbc } from '../../../adapters/can/dbc/index.ts';
import { vigie } from '../../rig/bench.ts';
import { smallCar } from '../small-car.ts';

let car: ReturnType<typeof smallCar>;
beforeAll(() => {
  car = smallCar();
});
afterAll(() => rmSync(car.folder, { recursive: true, force: true }));

function parsed(path: string): Database {
  const { database, diagnostics } = parseDbc(readFileSync(path), path);
  expect(diagnostics).toEqual([]);
  return database as Database;
}

/** Lines of a log with 29-bit identifiers: a speed in two bytes, big endian, a counter, and a checksum. */
function protectedLog(): string {
  const lines = Array.from({ length: 600 }, (_, i) => {
    const speed = Math.round(3000 + 2500 * Math.sin(i / 40) + (i % 7));
    const bytes = [speed >> 8, speed & 0xff, i % 16, (i * i * 31) & 0xff, 0x55];
    const sum = bytes.reduce((xor, byte) => xor ^ byte, 0);
    const data = Buffer.from([...bytes, sum])
      .toString('hex')
      .toUpperCase();
    return `(${(1000 + i / 50).toFixed(6)}) can0 18FEF121#${data}`;
  });
  return car.file('protected.log', `${lines.join('\n')}\n`);
}

test('--dbc-out writes messages with lengths, cycle times, counters, checksums and fields', async () => {
  const path = join(car.folder, 'new.dbc');
  const { status, stderr } = await vigie('inspect', protectedLog(), car.log, '--dbc-out', path);
  expect(status, stderr).toBe(0);
  expect(stderr).toContain(`${path}: 3 messages written`);
  const { messages } = parsed(path);
  expect(messages.map(({ id, name, length, cycleTime }) => [id, name, length, cycleTime])).toEqual([
    [0x100, 'ID_100', 8, 20],
    [0x200, 'ID_200', 2, 200],
    [0x98fef121, 'ID_18FEF121', 6, 20],
  ]);
  const [speed, body, guarded] = messages;
  expect(speed?.signals).toMatchObject([{ start: 0, byteOrder: 'little' }]);
  expect(body?.signals.map(({ start, length }) => [start, length])).toEqual([[0, 2]]);
  const named = new Map(guarded?.signals.map((signal) => [signal.name, signal]));
  expect(named.get('Counter_16')).toMatchObject({ start: 16, length: 4, comment: expect.stringContaining('0 to 15') });
  expect(named.get('Checksum_40')).toMatchObject({ start: 40, length: 8, comment: expect.stringMatching(/xor/i) });
  expect([...named.values()]).toContainEqual(expect.objectContaining({ byteOrder: 'big', start: 4, length: 13 }));
});

test('--dbc-out completes an existing DBC without changing a line of it', async () => {
  for (const end of ['\n', '\r\n']) {
    const before =
      `${readFileSync(car.dbc, 'utf8')}BA_DEF_ BO_ "Mine" INT 0 9;\nCM_ BO_ 256 "of\nBO_ 9 two lines \u00e9";\nBA_ "Mine" BO_ 256 3;\n`.replaceAll(
        '\n',
        end,
      );
    const path = car.file('old.dbc', before);
    const { stderr } = await vigie('inspect', protectedLog(), car.log, '--dbc-out', path);
    expect(stderr).toContain(`${path}: 1 message added to the 2 that it had`);
    const after = readFileSync(path, 'utf8');
    let from = 0;
    for (const line of before.split(end)) {
      from = after.indexOf(line, from) + line.length;
      expect(from).toBeGreaterThanOrEqual(line.length);
    }
    expect(parsed(path).messages.map(({ name }) => name)).toEqual(['MOTION', 'BODY', 'ID_18FEF121']);
    const again = await vigie('inspect', protectedLog(), car.log, '--dbc-out', path);
    expect(again.stderr).toContain(`${path}: no message is missing in it`);
    expect(readFileSync(path, 'utf8')).toBe(after);
  }
});

test('--dbc-out does not touch a file that is not a DBC', async () => {
  const path = car.file('notes.dbc', 'my notes\n');
  const { status } = await vigie('inspect', car.log, '--dbc-out', path);
  expect(status).toBe(2);
  expect(readFileSync(path, 'utf8')).toBe('my notes\n');
});
