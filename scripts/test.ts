/**
 * Runs every test, or the tests named by the arguments, or after `related` those that load the named files. Ends with a
 * list of what this machine lacks, and the line `N passed, N failed, N skipped`, from the runner's own result. A
 * skipped test counts as a failure only with TEST_ALL=1, which `.ci/run` sets. TEST_OUTCOMES names a file to which the
 * run adds the outcome of each test file. With TEST_REST=1, a run whose arguments name no file omits the files in which
 * a previous run has passed every test, as recorded in that file.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testFiles } from './test-files.ts';
import { incomplete, readFileOutcomes } from './test-outcomes.ts';

interface Result {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly FileResult[];
}

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  /** Start time in UTC ms. */
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly TestResult[];
}

interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly meta: { readonly absence?: string };
}

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'vigie-test-'));
const report = join(scratch, 'result.json');

const outcomes = process.env['TEST_OUTCOMES'];
const given = [...process.argv.slice(2), ...rest()];
const run = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    ...(given[0] === 'related' ? ['related', '--run', ...given.slice(1)] : ['run', ...given]),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
  { cwd: root, stdio: 'inherit' },
);

try {
  summarize(JSON.parse(readFileSync(report, 'utf8')) as Result);
} catch (error) {
  console.error(`the test runner left no result: ${(error as Error).message}`);
  process.exitCode = run.status || 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function summarize({ numPassedTests, numFailedTests, testResults }: Result): void {
  const skipped = testResults.flatMap((file) => file.assertionResults).filter(isSkipped);
  for (const [absence, tests] of countAbsences(skipped)) console.log(`not tested, ${absence}: ${tests} skipped`);
  // If a file failed to load, or a hook for a whole file failed, no test has failed.
  const broken = testResults.filter(({ status, assertionResults }) => {
    return status === 'failed' && assertionResults.every((test) => test.status !== 'failed');
  });
  for (const { name, message } of broken) console.error(`${name} failed outside its tests: ${message}`);

  const failed = numFailedTests + broken.length;
  if (failed > 0 || run.status !== 0) process.exitCode = run.status || 1;
  if (failed === 0 && run.status !== 0) console.error('the test runner reports an error outside of all tests, above');
  if (process.env['TEST_ALL'] === '1' && skipped.length > 0) {
    console.error('with TEST_ALL=1 no test may be skipped');
    process.exitCode = 1;
  }
  if (outcomes !== undefined) appendFileSync(outcomes, testResults.map(outcomeLine).join(''));
  console.log(`${numPassedTests} passed, ${failed} failed, ${skipped.length} skipped`);
}

function rest(): readonly string[] {
  if (process.env['TEST_REST'] !== '1') return [];
  const files = incomplete(testFiles(root), outcomes === undefined ? [] : readFileOutcomes(outcomes));
  // Without file names, the runner would run all files.
  return files.length > 0 ? files : ['--passWithNoTests', 'no file is left'];
}

function outcomeLine({ name, status, startTime, endTime, assertionResults }: FileResult): string {
  const file = relative(root, name);
  const tests = assertionResults.filter((test) => test.status === 'failed').map(({ fullName }) => fullName);
  const failed = status === 'failed' && tests.length === 0 ? [file] : tests;
  const skipped = assertionResults.filter(isSkipped).length;
  return `${JSON.stringify({ file, seconds: (endTime - startTime) / 1_000, failed, skipped })}\n`;
}

function isSkipped({ status }: TestResult): boolean {
  return status !== 'passed' && status !== 'failed';
}

/** Counts the skipped tests by reason, with the most frequent reason first. */
function countAbsences(skipped: readonly TestResult[]): readonly (readonly [absence: string, tests: number])[] {
  const counts = new Map<string, number>();
  for (const { meta, fullName } of skipped) {
    const absence = meta.absence ?? `no reason given for “${fullName}”`;
    counts.set(absence, (counts.get(absence) ?? 0) + 1);
  }
  return [...counts].sort((one, other) => other[1] - one[1]);
}
