/** The file that TEST_OUTCOMES names: runs of `scripts/test.ts` add a JSON object for each test file, one a line. */
import { existsSync, readFileSync } from 'node:fs';

export interface FileOutcome {
  /** Path in the project. */
  readonly file: string;
  readonly seconds: number;
  /** Full names of the tests that failed; the file's own name where it failed outside its tests. */
  readonly failed: readonly string[];
  /** Number of tests. */
  readonly skipped: number;
}

/** @returns nothing if no run has added anything */
export function readFileOutcomes(path: string): readonly FileOutcome[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as FileOutcome);
}

/** The files of which no run passed every test. */
export function incomplete(files: readonly string[], outcomes: readonly FileOutcome[]): readonly string[] {
  const complete = outcomes.filter(({ failed, skipped }) => failed.length === 0 && skipped === 0);
  const names = new Set(complete.map(({ file }) => file));
  return files.filter((file) => !names.has(file));
}
