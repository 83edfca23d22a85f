/**
 * Runs every test and ends with the line `N passed, N failed, N skipped`, taken from the runner's own result.
 * What the tests need beyond npm is installed first where that is allowed; with CI=true nothing may be skipped.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Result {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly numFailedTestSuites: number;
  readonly success: boolean;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'vigie-test-'));
const report = join(scratch, 'result.json');

spawnSync('sh', ['scripts/install-peers.sh'], { cwd: root, stdio: 'inherit' });
const run = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
);

try {
  const result = JSON.parse(readFileSync(report, 'utf8')) as Result;
  const skipped = result.numPendingTests + result.numTodoTests;
  const failed = result.numFailedTests;
  if (process.env['CI'] === 'true' && skipped > 0) {
    console.error('with CI=true no test may be skipped');
    process.exitCode = 1;
  }
  if (!result.success || run.status !== 0) process.exitCode = run.status || 1;
  // A file that failed to load has no failed test of its own, but is a failure all the same.
  const broken = failed === 0 && !result.success ? result.numFailedTestSuites : 0;
  console.log(`${result.numPassedTests} passed, ${failed + broken} failed, ${skipped} skipped`);
} catch (error) {
  console.error(`the test runner left no result: ${(error as Error).message}`);
  process.exitCode = run.status || 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
