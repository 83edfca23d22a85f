import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { append, createBatch } from '../../adapters/can/frames.ts';
import { CaptureFiles } from '../../commands/capture-files.ts';
import { packFrames } from '../../protocol/captures/capture.ts';
import { portableDeflate } from '../../protocol/columns/deflate.ts';
import type { Capture } from '../../protocol/schema/capture.ts';
import { readLog } from '../adapters/can/log/frames.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-capture-files-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const start = 1_700_000_000_000;

function part(id: string, number: number, more: Partial<Capture> = {}): Capture {
  const batch = createBatch(1, 8);
  append(batch, start + number + 0.25, 0x100 + number, 0, 0, Uint8Array.of(number, 0xff), 2);
  return {
    id,
    part: number,
    last: false,
    cause: 'collision',
    of: 'c1',
    at: start,
    from: start - 10,
    to: start + 10,
    buses: ['can'],
    ...packFrames(batch, start, portableDeflate),
    ...more,
  };
}

const line = (number: number): string => `(1700000000.00${number}250) can 10${number}#0${number}FF\n`;

test('parts in any order become one candump log in the order of the frames', () => {
  const said: string[] = [];
  const files = new CaptureFiles(join(folder, 'a'), (text) => said.push(text));
  for (const number of [1, 0, 3]) files.take(part('a1', number, { last: number === 3 }));
  files.take(part('a1', 2));
  files.close();
  expect(readFileSync(join(folder, 'a/a1.log'), 'latin1')).toBe([0, 1, 2, 3].map(line).join(''));
  expect(said).toEqual([expect.stringMatching(/a1\.log: complete$/)]);
});

test('a capture becomes one MDF4 file when all parts have arrived, or a partial file when watch ends', async () => {
  const said: string[] = [];
  const files = new CaptureFiles(join(folder, 'm'), (text) => said.push(text), 'mdf4');
  for (const number of [1, 0]) files.take(part('a1', number));
  files.take(part('b1', 0));
  expect(readdirSync(join(folder, 'm'))).toEqual([]);
  files.take(part('a1', 2, { last: true }));
  expect(readdirSync(join(folder, 'm'))).toEqual(['a1.mf4']);
  files.take(part('b1', 2));
  files.close();
  const ids = async (name: string) => (await readLog(join(folder, 'm', name))).frames.map(({ id }) => id);
  expect(await ids('a1.mf4')).toEqual([0x100, 0x101, 0x102]);
  expect(await ids('b1.mf4')).toEqual([0x100, 0x102]);
  expect(said.at(-1)).toMatch(/b1\.mf4: parts are missing from part 1 on$/);
});

test('missing parts of a capture are reported, and the others are written', () => {
  const said: string[] = [];
  const files = new CaptureFiles(join(folder, 'b'), (text) => said.push(text));
  files.take(part('b1', 0, { since: start - 5 }));
  files.take(part('b1', 2, { lost: 7 }));
  files.take(part('b2', 0, { last: true, broken: true }));
  files.close();
  expect(readFileSync(join(folder, 'b/b1.log'), 'latin1')).toBe(line(0) + line(2));
  expect(said).toEqual([
    expect.stringMatching(/b1\.log: begins at 2023-11-14T22:13:19\.995Z/),
    expect.stringMatching(/b2\.log: the agent ended/),
    expect.stringMatching(/b2\.log: complete$/),
    expect.stringMatching(/b1\.log: up to 7 frames were overwritten/),
    expect.stringMatching(/b1\.log: parts are missing from part 1 on$/),
  ]);
});

test('a watch that starts during a capture writes the rest, and reports that the car has the start', () => {
  const said: string[] = [];
  const files = new CaptureFiles(join(folder, 'd'), (text) => said.push(text));
  for (const number of [3, 2]) files.take(part('d1', number, { last: number === 3 }));
  for (const number of [2, 4]) files.take(part('d2', number, { last: number === 4 }));
  files.take(part('d3', 1));
  files.close();
  expect(readFileSync(join(folder, 'd/d1.log'), 'latin1')).toBe(line(2) + line(3));
  expect(readFileSync(join(folder, 'd/d2.log'), 'latin1')).toBe(line(2) + line(4));
  const begins = (id: string, number: number) =>
    expect.stringMatching(new RegExp(`${id}\\.log: begins with part ${number}: .* its GET /vigie/v1/captures has`));
  expect(said).toEqual([
    begins('d1', 2),
    begins('d2', 2),
    expect.stringMatching(/d2\.log: parts are missing from part 3 on$/),
    begins('d3', 1),
    expect.stringMatching(/d3\.log: parts are missing from part 2 on$/),
  ]);
});

test('an id that is not a valid file name is refused', () => {
  const files = new CaptureFiles(join(folder, 'c'), () => undefined);
  expect(() => files.take(part('../c1', 0))).toThrowError(expect.objectContaining({ code: 'message.malformed' }));
  expect(readdirSync(join(folder, 'c'))).toEqual([]);
});
