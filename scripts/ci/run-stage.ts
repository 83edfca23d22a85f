/** Runs one stage and measures it. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { defined } from '../../protocol/defined.ts';
import type { CiStage } from './stages.ts';

export interface StageResult {
  readonly name: string;
  readonly partial?: boolean;
  /** Exit status of the command; 1 if it could not be started or a signal ended it. */
  readonly status: number;
  /** Wall time in seconds. */
  readonly wall: number;
  /** Processor time in seconds of the command and of all processes for which it waited. */
  readonly processor: number;
  /** Numbers of tests, from the last line `N passed, N failed, N skipped` of the output, if there is one. */
  readonly counts?: Counts;
  /** The first lines of each failure message in the output. */
  readonly failures: readonly string[];
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** First line of a failure message of vitest, or of a script's check. */
const FAILURE = /^ ?FAIL(ED)? /;
/** Number of lines that are kept of one failure message. */
const FAILURE_LINES = 14;
/** Number of lines that are kept of all failure messages of a stage. */
const MAX_FAILURE_LINES = 120;

/**
 * After the command, the shell's `times` reports the processor time of the children for which the shell waited (POSIX,
 * times). Descriptor 3 separates this report from the output.
 */
const TIMED = '"$@"; status=$?; times >&3; exit $status';

/**
 * @param cwd working directory of the command
 * @param environment all environment variables of the command
 * @param print called with each line of the command's output
 */
export async function runStage(
  { name, partial, command }: CiStage,
  cwd: string,
  environment: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<StageResult> {
  const began = performance.now();
  const child = spawn('sh', ['-c', TIMED, 'sh', ...command], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let [times, counts]: [string, Counts | undefined] = ['', undefined];
  const failures: string[] = [];
  let rest = 0;
  (child.stdio[3] as Readable).setEncoding('utf8').on('data', (text: string) => {
    times += text;
  });
  for (const output of [child.stdout, child.stderr] as Readable[]) {
    createInterface({ input: output }).on('line', (line) => {
      counts = countsIn(line) ?? counts;
      if (FAILURE.test(stripVTControlCharacters(line))) rest = FAILURE_LINES;
      if (rest-- > 0 && failures.length < MAX_FAILURE_LINES) failures.push(stripVTControlCharacters(line));
      print(line);
    });
  }
  const status = await new Promise<number>((resolve) => {
    child.once('error', (error) => {
      print(error.message);
      resolve(1);
    });
    child.once('close', (code) => resolve(code ?? 1));
  });
  const wall = (performance.now() - began) / 1_000;
  return {
    name,
    status,
    wall,
    processor: processorTime(times),
    failures,
    ...defined({ partial, counts }),
  };
}

/** Returns the counts in the last line of a test run. Ignores terminal colours. */
export function countsIn(line: string): Counts | undefined {
  const [, passed, failed, skipped] = /^(\d+) passed, (\d+) failed, (\d+) skipped$/.exec(line) ?? [];
  if (passed === undefined) return undefined;
  return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}

/** Returns the seconds in the second line of `times`: user and system time of the children, e.g. `0m3.25s 0m0.50s`. */
export function processorTime(times: string): number {
  const [, children = ''] = times.split('\n');
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );
}
