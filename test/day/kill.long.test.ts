/**
 * The scripted day in a separate process with its store on disk, killed at random points and restarted: the records are
 * the same as without a kill. Set DAY_KILLS=200 to run many kills.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Noise } from '../../adapters/simulated/noise.ts';
import { openStore } from '../../adapters/store/index.ts';
import { type DayLog, packDay } from '../rig/day.ts';
import { type DayOutcome, wholeDay } from '../rig/day-run.ts';
import { bundled } from '../rig/run.ts';
import { readingsIn } from './records.ts';

const KILLS = Number(process.env['DAY_KILLS'] ?? 8);
const SEED = Number(process.env['DAY_SEED'] ?? 1);

let folder: string;
let child: string;
let log: DayLog;
let whole: DayOutcome;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-day-'));
  ({ log, day: whole } = await wholeDay());
  writeFileSync(join(folder, 'frames'), packDay(log));
  child = await bundled('test/day/child.ts');
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a process until it reports this number of frames, or to the end of the day. Returns its last output. */
async function live(boot: number, frames: number): Promise<string> {
  const parameters = [child, join(folder, 'frames'), join(folder, 'data'), String(boot)];
  const running = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(running, 'close');
  let last = '';
  for await (const line of createInterface({ input: running.stdout })) {
    last = line;
    if (Number(line) >= frames) running.kill('SIGKILL');
  }
  const [status, signal] = (await closed) as [number | null, string | null];
  expect(signal ?? status).toBe(last === 'done' ? 0 : 'SIGKILL');
  return last;
}

test(`after ${KILLS} kills, the records equal those of a day without a kill`, async () => {
  const noise = new Noise(SEED);
  const kills = Array.from({ length: KILLS }, () => Math.floor(noise.next() * log.count)).sort((a, b) => a - b);
  let killed = 0;
  let boot = 0;
  for (const kill of [...kills, Number.POSITIVE_INFINITY]) {
    if ((await live(++boot, kill)) === 'done') break;
    killed++;
  }
  expect(killed).toBeGreaterThan(KILLS / 2);
  const store = await openStore(join(folder, 'data'), { now: () => undefined });
  const records = Object.fromEntries(Object.keys(whole.records).map((kind) => [kind, [...store.records.list(kind)]]));
  // Compare decoded readings rather than bytes, so that a failure shows a readable diff.
  expect(readingsIn({ records })).toEqual(readingsIn(whole));
  for (const [kind, expected] of Object.entries(whole.records)) expect(records[kind], kind).toEqual(expected);
  await store.close();
}, 900_000);
