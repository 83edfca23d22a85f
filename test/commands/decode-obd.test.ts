/** Diagnostics of logs and texts in `vigie decode --obd`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXTENDED } from '../../agent/ports.ts';
import type { Frame } from '../adapters/can/log/frames.ts';
import { asc, blf, crtd, gvret, kvaser, slcan, trc } from '../adapters/can/log/writers.ts';
import { vigie } from '../rig/bench.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-diagnosed-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const start = 1_436_509_052_000;

/** Two units answer the same request, one of them refuses; a VIN in three frames; a request without an answer. */
const conversation: readonly Frame[] = [
  ...['7DF 02010D', '7E8 03410D3C', '7E9 037F0112', '7E0 0322F190'],
  ...['7E8 101462F190314731', '7E0 300000', '7E8 214A433534343452', '7E8 22373235323336375555'.slice(0, 20)],
  ...['18DB33F1 02010C', '18DAF110 04410C0FA0', '7E1 020105', '7E9 03410D3D', '123 0102030405060708'],
].map((text, i) => {
  const [name = '', data = ''] = text.split(' ');
  const id = Number.parseInt(name, 16);
  const at = start + (name === '123' ? 9_000 : i * 10);
  const padded = data.padEnd(16, '0');
  return { at, bus: 'can0', id: name.length === 8 ? (id | EXTENDED) >>> 0 : id, flags: 0, length: 8, data: padded };
});

function candump(frames: readonly Frame[]): string {
  return frames
    .map(({ at, bus, id, data }) => {
      const name = id >= EXTENDED ? (id - EXTENDED).toString(16) : id.toString(16).padStart(3, '0');
      return `(${(at / 1000).toFixed(6)}) ${bus} ${name}#${data}\n`;
    })
    .join('');
}

const formats: readonly (readonly [string, () => string | Buffer])[] = [
  ['candump', () => candump(conversation)],
  ['candump, packed', () => gzipSync(candump(conversation))],
  ['ASC', () => asc(conversation, 'hex', 'absolute')],
  ['BLF', () => blf(conversation, 1000, true)],
  ['TRC', () => trc(conversation)],
  ['CRTD', () => crtd(conversation)],
  ['GVRET', () => gvret(conversation)],
  ['Kvaser', () => kvaser(conversation)],
  ['slcan', () => slcan(conversation)],
];

describe('logs with diagnostics', () => {
  test.each(formats)('decode --obd prints each answer of a %s log with its request', async (name, write) => {
    const { status, stdout, stderr } = await vigie('decode', file(`drive ${name}`, write()), '--obd');
    expect(status, stderr).toBe(0);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toMatchObject([
      { unit: '7E8', to: '7DF', request: '010D', values: { VehicleSpeed: 60 } },
      { unit: '7E9', to: '7DF', request: '010D', refused: { service: 1, code: 0x12 } },
      { unit: '7E8', to: '7E0', request: '22F190', vin: '1G1JC5444R7252367' },
      { unit: '18DAF110', to: '18DB33F1', request: '010C', values: { EngineSpeed: 1000 } },
      { unit: '7E9', unrequested: true, values: { VehicleSpeed: 61 } },
      { to: '7E1', request: '0105', unanswered: true },
    ]);
    expect(stderr).toContain('1 request without an answer');
    expect(stderr).toContain('1 answer without a request');
  });

  test('decode --obd prints text for people and counts messages with lost frames', async () => {
    const log = file('cut.log', candump(conversation.filter((_, i) => i !== 6)));
    const { stdout, stderr } = await vigie('decode', log, '--obd', '--format', 'text');
    expect(stdout.split('\n').map((line) => line.replace(/^[\d.]+ can0 /, ''))).toEqual([
      '7E8 010D VehicleSpeed=60',
      '7E9 010D refused: sub-function not supported (0x12)',
      '18DAF110 010C EngineSpeed=1000 EngineRunning=1',
      '7E9 (no request) 7DF.010D VehicleSpeed=61',
      '7E0 22F190 no answer',
      '7E1 0105 no answer',
      '',
    ]);
    expect(stderr).toContain('1 message of several frames lost: frames are missing or out of order');
  });

  test('decode --obd of a log without diagnostics ends with status 1 and the expected identifiers', async () => {
    const { status, stdout, stderr } = await vigie(
      'decode',
      file('none.log', candump(conversation.slice(-1))),
      '--obd',
    );
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('it has no diagnostics on 7DF, 7E0 to 7EF');
  });
});

test('decode --obd reads the text output of a scanner', async () => {
  const text = '7e0[7e8]:0100 00\n7e0[7e8]:f190 31 47 31 4a 43 35 34 34 34 52 37 32 35 32 33 36 37\n7e0[7e8]:000c 01\n';
  const { status, stdout, stderr } = await vigie('decode', file('scan.txt', text), '--obd');
  expect(status, stderr).toBe(0);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toMatchObject([
    { unit: '7E8', to: '7E0', request: '220100', data: '62010000' },
    { unit: '7E8', to: '7E0', request: '22F190', vin: '1G1JC5444R7252367' },
    { error: expect.stringContaining('the line does not name the service') },
  ]);
  expect(stderr).toContain("2 lines of a scan without its service read as service 22, the scanner's default");
});

test('two signal sets with the same command are a warning', async () => {
  const set = (name: string, id: string): string =>
    file(
      name,
      JSON.stringify({
        commands: [{ hdr: '7E0', rax: '7E8', cmd: { '22': 'D001' }, freq: 1, signals: [{ id, fmt: { len: 8 } }] }],
      }),
    );
  const log = file('d001.log', candump([{ ...conversation[0], data: '0322d00100000000', id: 0x7e0 } as Frame]));
  const first = set('first.json', 'A');
  const second = set('second.json', 'B');
  const { stderr } = await vigie('decode', log, '--obd', first, second);
  expect(stderr).toContain(`${first}: warning: 7E0.7E8.22D001 is in several signal sets; that of ${second} is used`);
});

test('a log behind --obd is refused with its place', async () => {
  const log = file('behind.log', candump(conversation));
  const { status, stderr } = await vigie('decode', '--obd', log);
  expect(status).toBe(2);
  expect(stderr).toContain(`${log} is not a signal set (.json): write logs before --obd`);
});

test('--obd does not accept options for frames', async () => {
  const { status, stderr } = await vigie('decode', file('some.log', candump(conversation)), '--obd', '--raw');
  expect(status).toBe(2);
  expect(stderr).toContain('leave out --dbc and --raw');
});
