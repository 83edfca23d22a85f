/** Runs the simulation commands of docs/reliability.md. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
/**
 * Arguments of `npm run simulate --`. Searches end after a second instead of minutes. Commands that run for minutes are
 * excluded (`notRun` in test/docs/untyped.ts).
 */
const commands = [
  ...readFileSync(join(root, 'docs/reliability.md'), 'utf8').matchAll(/^ {4}npm run simulate -- (.*)$/gm),
]
  .map(([, words = '']) => words.replaceAll(/--(search|for) \d+m/g, '--$1 1s').split(' '))
  .filter((words) => !words.includes('--days') && !words.includes('--small'))
  .map((words) => [words.join(' '), words] as const);

test('the page has simulation commands', () => {
  expect(commands.map(([text]) => text)).toContain('--seed 19');
});

test.each(commands)('npm run simulate -- %s breaks no invariant', async (_, words) => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-simulate-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const args = ['scripts/simulate.ts', ...words, ...(words.includes('--runs') ? ['--ledger', folder] : [])];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  expect(stdout).toMatch(/^seed \d+: |\d+ worlds from seed|, 0 with a broken invariant/m);
  expect(stdout).not.toContain('broken:');
});

test.each([2695, 3137, 3227])('the world of seed %i, which once broke an invariant, breaks none', async (seed) => {
  const args = ['scripts/simulate.ts', '--seed', String(seed)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  expect(stdout).not.toContain('broken:');
});
