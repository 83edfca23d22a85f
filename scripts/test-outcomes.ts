/** The file that TEST_OUTCOMES names: `scripts/test.ts` appends a JSON object for each test file, one per line. */
import { existsSync, readFileSync } from 'node:fs';

export interface FileOutcome {
  /** Path relative to the project. */
  readonly file: string;
  readonly seconds: number;
  /** Full names of the failed tests. If the file failed outside its tests, the name of the file. */
  readonly failed: readonly string[];
  /** Number of skipped tests. */
  readonly skipped: number;
}

/** @returns the outcomes; an empty list if no run has appended any */
export function readFileOutcomes(path: string): readonly FileOutcome[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as FileOutcome);
}

/** Returns the files of which no run has passed every test. */
export function incomplete(files: readonly string[], outcomes: readonly FileOutcome[]): readonly string[] {
  const complete = outcomes.filter(({ failed, skipped }) => failed.length === 0 && skipped === 0);
  const names = new Set(complete.map(({ file }) => file));
  return files.filter((file) => !names.has(file));
}
