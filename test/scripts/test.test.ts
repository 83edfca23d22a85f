/** `npm test` itself: a real run of the runner over a directory with a few tests. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testFiles } from '../../scripts/test-files.ts';
import { type FileOutcome, incomplete, readFileOutcomes } from '../../scripts/test-outcomes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const script = fileURLToPath(new URL('../../scripts/test.ts', import.meta.url));
const needs = new URL('../needs.ts', import.meta.url).pathname;

const files = {
  'passing.test.ts': `
    test('passes', () => expect(1).toBe(1));`,
  'absent.test.ts': `
    import { describeNeeding, testNeeding } from '${needs}';
    describeNeeding(false, 'a log is absent', 'reads a log', () => { throw new Error('the body ran'); });
    describeNeeding(false, 'a log is absent', 'reads it again', () => { throw new Error('the body ran'); });
    testNeeding(false, 'a broker is absent', 'asks a broker', () => { throw new Error('the body ran'); });
    describeNeeding(true, '', 'needs what is there', () => { test('passes too', () => undefined); });`,
  'failing.test.ts': `
    test('fails', () => expect(1).toBe(2));`,
  'broken.test.ts': `
    throw new Error('this file cannot be loaded');`,
  'reading.test.ts': `
    import { read } from './beside.ts';
    test('reads', () => expect(read()).toBe(1));`,
  'beside.ts': `
    export const read = () => 1;`,
  'astray.test.ts': `
    test('leaves a promise behind', () => { void Promise.reject(new Error('nobody waits for this')); });`,
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-test-of-tests-'));
  writeFileSync(join(folder, 'vitest.config.mjs'), 'export default { test: { globals: true } };\n');
  for (const [name, contents] of Object.entries(files)) writeFileSync(join(folder, name), contents);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runTests(
  names: readonly (keyof typeof files | 'related')[],
  environment: Record<string, string> = {},
  project = folder,
) {
  const { CI: _, TEST_ALL: __, TEST_OUTCOMES: ___, TEST_REST: ____, ...inherited } = process.env;
  const env = Object.fromEntries(Object.entries(inherited).filter(([name]) => !name.startsWith('VITEST')));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...names, '--root', project], {
    env: { ...env, ...environment },
    encoding: 'utf8',
  });
  return { status, lines: stdout.trimEnd().split('\n'), stderr };
}

for (const environment of [{}, { CI: 'true' }] as Record<string, string>[]) {
  const ci = environment['CI'] ?? 'not set';
  test(`a suite without its need is skipped, listed and not a failure, and the time and outcome of each file go to TEST_OUTCOMES; CI ${ci}`, () => {
    const outcomes = join(folder, `outcomes-${ci}`);
    const { status, lines } = runTests(['passing.test.ts', 'absent.test.ts'], {
      ...environment,
      TEST_OUTCOMES: outcomes,
    });
    expect(lines.slice(-3)).toEqual([
      'not tested, a log is absent: 2 skipped',
      'not tested, a broker is absent: 1 skipped',
      '2 passed, 0 failed, 3 skipped',
    ]);
    expect(status).toBe(0);
    const rows = readFileOutcomes(outcomes);
    expect(rows.map(({ file }) => basename(file)).sort()).toEqual(['absent.test.ts', 'passing.test.ts']);
    for (const { seconds } of rows) expect(seconds).toBeGreaterThan(0);
  });
}

test('with TEST_ALL=1 a skipped test fails the run, and a run without skips succeeds', () => {
  const all = { TEST_ALL: '1' };
  const skipping = runTests(['passing.test.ts', 'absent.test.ts'], all);
  expect(skipping.stderr).toContain('with TEST_ALL=1 no test may be skipped');
  expect(skipping.lines.at(-1)).toBe('2 passed, 0 failed, 3 skipped');
  expect(skipping.status).toBe(1);
  expect(runTests(['passing.test.ts'], all)).toMatchObject({ status: 0 });
});

test('a failed test and a file that cannot be loaded are both counted as failures and named', () => {
  const outcomes = join(folder, 'outcomes-failed');
  const { status, lines, stderr } = runTests(['passing.test.ts', 'failing.test.ts', 'broken.test.ts'], {
    TEST_OUTCOMES: outcomes,
  });
  const failed = readFileOutcomes(outcomes).flatMap((row) => row.failed.map((name) => basename(name)));
  expect(failed.sort()).toEqual(['broken.test.ts', 'fails']);
  expect(lines.at(-1)).toBe('1 passed, 2 failed, 0 skipped');
  expect(stderr).toMatch(/broken\.test\.ts failed outside its tests: this file cannot be loaded/);
  expect(status).toBe(1);
});

test('an error outside of all tests fails the run', () => {
  const { status, stderr } = runTests(['passing.test.ts', 'astray.test.ts']);
  expect(stderr).toContain('an error outside of all tests');
  expect(status).toBe(1);
});

test('after “related”, only the files run that load the named one', () => {
  const { status, lines } = runTests(['related', 'beside.ts']);
  expect(lines.at(-1)).toBe('1 passed, 0 failed, 0 skipped');
  expect(status).toBe(0);
});

test('with TEST_REST=1 only the files run in which no earlier run has passed every test', () => {
  const row = { seconds: 1, failed: [], skipped: 0 };
  const outcomes: FileOutcome[] = [
    { ...row, file: 'failed.test.ts', failed: ['opens'] },
    { ...row, file: 'skipped.test.ts', skipped: 1 },
    { ...row, file: 'passed.test.ts' },
    { ...row, file: 'again.test.ts', skipped: 1 },
    { ...row, file: 'again.test.ts' },
  ];
  const files = ['again.test.ts', 'failed.test.ts', 'new.test.ts', 'passed.test.ts', 'skipped.test.ts'];
  expect(incomplete(files, outcomes)).toEqual(['failed.test.ts', 'new.test.ts', 'skipped.test.ts']);

  const left = 'test/protocol/nearest.test.ts';
  const passed = testFiles(root).map((file) => ({ ...row, file }));
  expect(rest(passed.filter(({ file }) => file !== left))).toMatchObject({
    status: 0,
    lines: expect.arrayContaining([
      expect.stringContaining(left),
      expect.stringMatching(/^[1-9]\d* passed, 0 failed, 0 skipped$/),
    ]),
  });
  expect(rest(passed)).toMatchObject({ status: 0, lines: expect.arrayContaining(['0 passed, 0 failed, 0 skipped']) });
});

/** Runs the rest of the project's own tests. */
function rest(rows: readonly FileOutcome[]): ReturnType<typeof runTests> {
  const outcomes = join(folder, 'outcomes-rest');
  writeFileSync(outcomes, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return runTests([], { TEST_REST: '1', TEST_OUTCOMES: outcomes }, root);
}
