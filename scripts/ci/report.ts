/** Report at the end of `.ci/run`: the slowest test files, failed tests, a table of stages, and the test totals. */
import type { FileOutcome } from '../test-outcomes.ts';
import type { StageResult } from './run-stage.ts';

const SHOWN_FILES = 20;

/**
 * Returns the lines of the report. The last one is `N passed, N failed, N skipped`. In it, a failed stage without tests
 * counts as one failure, and the tests that a partial stage skipped do not count.
 */
export function report(
  results: readonly StageResult[],
  wall: number,
  files: readonly FileOutcome[],
): readonly string[] {
  const slowest = [...files].sort((one, other) => other.seconds - one.seconds).slice(0, SHOWN_FILES);
  const processor = results.reduce((sum, result) => sum + result.processor, 0);
  return [
    ...(slowest.length === 0 ? [] : [`the ${slowest.length} slowest test files, seconds:`]),
    ...slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(8)}  ${file}`),
    ...files.flatMap(({ file, failed }) => failed.map((name) => `failed: ${file}: ${name}`)),
    ...results.flatMap(({ name, failures }) => failures.map((line) => `[${name}] ${line}`)),
    'stage           wall  processor  tests',
    ...results.map(row),
    `${'all'.padEnd(12)} ${minutes(wall)}  ${minutes(processor)}`,
    `.ci/run took ${(wall / 60).toFixed(1)} minutes`,
    total(results),
  ];
}

function row({ name, status, wall, processor, counts }: StageResult): string {
  const tests =
    counts === undefined ? '' : `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
  const outcome = status === 0 ? tests : `${tests === '' ? '' : `${tests}; `}FAILED with status ${status}`;
  return `${name.padEnd(12)} ${minutes(wall)}  ${minutes(processor)}   ${outcome}`.trimEnd();
}

function total(results: readonly StageResult[]): string {
  let [passed, failed, skipped] = [0, 0, 0];
  for (const { status, partial, counts } of results) {
    passed += counts?.passed ?? 0;
    failed += counts?.failed ?? 0;
    skipped += partial === true ? 0 : (counts?.skipped ?? 0);
    if (status !== 0 && (counts?.failed ?? 0) === 0) failed++;
  }
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

function minutes(seconds: number): string {
  const rest = Math.round(seconds);
  return `${Math.floor(rest / 60)}:${String(rest % 60).padStart(2, '0')}`.padStart(7);
}
