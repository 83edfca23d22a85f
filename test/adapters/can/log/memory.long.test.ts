/** Memory must not grow with the size of the log: compares reading a large file with reading a small one. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { pcap, pcapng } from './capture-writers.ts';
import type { Frame } from './frames.ts';
import { type Mdf4, mdf4, start } from './mdf4-writer.ts';
import { table } from './sqlite-writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-memory-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MEGABYTE = 1024 * 1024;
/** Large enough for the program to reach its base memory. */
const SMALL = 16 * MEGABYTE;
const LARGE = 128 * MEGABYTE;
/** Allowance for garbage that is not collected yet. */
const ALLOWED = 40 * MEGABYTE;

const frames: Frame[] = Array.from({ length: 2_000 }, (_, i) => ({
  at: start + i,
  id: 0x100 + (i % 500),
  bus: `can${i % 2}`,
  flags: 0,
  length: 8,
  data: i.toString(16).padStart(16, '0'),
}));
const capture = { linkType: 227, little: true, nano: false } as const;
const unfinished: Mdf4 = {
  sorted: false,
  bytes: 'records',
  time: 'float',
  ide: 'bit',
  packing: 'plain',
  unfinished: 0x65,
};

/** A file whose bytes from `body` on are repeated up to `size`. */
function repeated(name: string, file: Buffer, body: number, size: number): string {
  const path = join(folder, name);
  const part = file.subarray(body);
  writeFileSync(path, file);
  for (let at = file.length; at < size; at += part.length) appendFileSync(path, part);
  return path;
}

function databaseOf(name: string, rows: number): string {
  const path = join(folder, name);
  const made = new DatabaseSync(path);
  made.exec(`${table}; WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${rows})
    INSERT INTO messages SELECT i / 1000.0, i % 2048, 0, 0, 0, 64, zeroblob(64) FROM r`);
  made.close();
  return path;
}

interface Peak {
  readonly memory: number;
  readonly frames: number;
}

/** A program that reads a log, and prints its peak memory in bytes and the number of frames. */
function readerOf(path: string): string[] {
  const program = `
    const { openLog } = await import(${JSON.stringify(new URL('../../../../adapters/can/log/index.ts', import.meta.url).href)});
    const log = await openLog(${JSON.stringify(path)});
    for await (const _ of log.batches());
    await log.close();
    console.log(JSON.stringify({ memory: process.resourceUsage().maxRSS * 1024, frames: log.frames }));`;
  // Fixes the size of the young generation, so that it does not grow during the test.
  return ['--max-semi-space-size=4', '--input-type=module', '-e', program];
}

function peakOf(path: string): Peak {
  return JSON.parse(execFileSync(process.execPath, readerOf(path), { encoding: 'utf8' }));
}

/** As {@link peakOf}, for a candump log on standard input that no disk has to hold. */
async function peakOfStream(size: number): Promise<Peak> {
  const child = spawn(process.execPath, readerOf('-'), { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const line = (i: number): string =>
    `(${((start + i) / 1000).toFixed(6)}) can${i % 2} ${(0x100 + (i % 500)).toString(16)}#${i.toString(16).padStart(16, '0')}\n`;
  const part = Buffer.from(Array.from({ length: 20_000 }, (_, i) => line(i)).join(''));
  const closed = once(child, 'close');
  for (let sent = 0; sent < size; sent += part.length) if (!child.stdin.write(part)) await once(child.stdin, 'drain');
  child.stdin.end();
  await closed;
  return JSON.parse(output);
}

const body = mdf4(frames, unfinished);
const records = body.lastIndexOf('##DT') + 24;
const section = pcapng(frames, capture);

test.each([
  ['pcap', (size: number) => repeated(`${size}.pcap`, pcap(frames, capture), 24, size)],
  ['pcapng', (size: number) => repeated(`${size}.pcapng`, section, 0, size)],
  ['MDF4', (size: number) => repeated(`${size}.mf4`, body, records, size)],
  ['SQLite', (size: number) => databaseOf(`${size}.db`, Math.ceil(size / 90))],
])('%s: reading a large file takes no more memory than a small one', (_, write) => {
  const small = peakOf(write(SMALL));
  const large = peakOf(write(LARGE));
  expect(large.frames).toBeGreaterThan(7 * small.frames);
  expect(large.memory - small.memory).toBeLessThan(ALLOWED);
});

/** Size of the streamed log: LOG_GIGABYTES=4 for one that fills a data logger. */
const STREAMED = Number(process.env['LOG_GIGABYTES'] ?? '0.25') * 1024 * MEGABYTE;

test('candump: a long stream takes no more memory than a short one', { timeout: 600_000 }, async () => {
  const short = await peakOfStream(SMALL);
  const long = await peakOfStream(STREAMED);
  const shown = ({ memory, frames }: Peak): string => `${frames} frames ${Math.round(memory / MEGABYTE)} MiB`;
  process.stdout.write(`candump on standard input: ${shown(short)}, ${shown(long)}\n`);
  expect(long.frames / short.frames).toBeGreaterThan(0.9 * (STREAMED / SMALL));
  expect(long.memory - short.memory).toBeLessThan(ALLOWED);
});
