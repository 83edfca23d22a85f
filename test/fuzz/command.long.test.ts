/** `npm run fuzz` as a process: refused arguments, and continued runs. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

test('invalid arguments cause an error of one sentence', async () => {
  const script = resolve(import.meta.dirname, '../../scripts/fuzz/index.ts');
  const started = promisify(execFile)(process.execPath, [script, 'dbc']);
  await expect(started).rejects.toMatchObject({
    code: 2,
    stderr: 'dbc: a target is named with --target, as in --target dbc\n',
  });
});

test('a run with a total and a state continues where it was interrupted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-fuzz-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const state = join(folder, 'state.json');
  const script = resolve(import.meta.dirname, '../../scripts/fuzz/index.ts');
  const fuzz = (...words: string[]) =>
    promisify(execFile)(process.execPath, ['--expose-gc', script, '--seed', '8-9', '--state', state, ...words]);
  await fuzz('--total', '1s', '--target', 'nmea');
  const { seeds } = JSON.parse(readFileSync(state, 'utf8')) as { seeds: Record<string, Record<string, unknown>> };
  expect(Object.keys(seeds)).toEqual(['8', '9']);
  // The state after a run that was interrupted between two seeds.
  writeFileSync(state, JSON.stringify({ seeds: { 8: seeds['8'] } }));
  await fuzz('--total', '1s', '--target', 'nmea');
  const again = JSON.parse(readFileSync(state, 'utf8')) as { seeds: typeof seeds };
  expect(again.seeds['8']).toEqual(seeds['8']);
  expect(Object.keys(again.seeds)).toEqual(['8', '9']);
  writeFileSync(state, 'no ledger');
  await expect(fuzz('--total', '1s')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('start over') });
  await expect(fuzz('--total', 'soon')).rejects.toMatchObject({ code: 2 });
});

test('a run that exceeds its time saves its progress, and the same command continues there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-fuzz-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const state = join(folder, 'state.json');
  const script = resolve(import.meta.dirname, '../../scripts/fuzz/index.ts');
  const fuzz = async (runs: number, time: string) => {
    const words = ['--target', 'nmea', '--runs', String(runs), '--state', state, '--for', time];
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, ...words]);
    const { seeds } = JSON.parse(readFileSync(state, 'utf8')) as { seeds: Record<string, Record<string, Kept>> };
    return { stdout, kept: seeds['1']?.['nmea'] as Kept };
  };
  interface Kept {
    readonly inputs: number;
    readonly accepted: number;
    readonly refused: number;
    readonly partial?: boolean;
  }
  const first = await fuzz(10_000_000, '1s');
  expect(first.stdout).toContain('the same command goes on');
  expect(first.kept.partial).toBe(true);
  expect(first.kept.inputs).toBeGreaterThan(0);
  const runs = first.kept.inputs + 300;
  const { stdout, kept } = await fuzz(runs, '10m');
  expect(stdout).not.toContain('goes on');
  expect(kept.partial).toBeUndefined();
  expect([kept.inputs, kept.accepted + kept.refused]).toEqual([runs, runs]);
});
