/**
 * `.ci/run [--from STAGE]`, after `npm ci`: runs all stages of stages.ts, or only STAGE and those after it. Lanes run
 * in parallel. A failed stage in a lane does not stop the others, so that one run shows all failures; a failed stage
 * outside the lanes does. Each line of output starts with the name of its stage. The last lines list the cost of each
 * stage.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readFileOutcomes } from '../test-outcomes.ts';
import { report } from './report.ts';
import { runStage, type StageResult } from './run-stage.ts';
import { type CiStage, lanes, stages } from './stages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({ options: { from: { type: 'string' } } });
const first = values.from === undefined ? 0 : stages.findIndex(({ name }) => name === values.from);
if (first < 0) {
  console.error(`usage: .ci/run [--from ${stages.map(({ name }) => name).join(' | ')}]`);
  process.exit(2);
}

const began = performance.now();
const scratch = mkdtempSync(join(tmpdir(), 'vigie-ci-'));
const outcomes = join(scratch, 'outcomes');
const results: StageResult[] = [];
try {
  const wanted = stages.slice(first);
  const alone = wanted.filter(({ lane }) => lane === undefined);
  if (await inTurn(alone, true)) {
    await Promise.all(
      lanes.map((name) =>
        inTurn(
          wanted.filter(({ lane }) => lane === name),
          false,
        ),
      ),
    );
  }
  const order = stages.map(({ name }) => name);
  results.sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  for (const line of report(results, (performance.now() - began) / 1_000, readFileOutcomes(outcomes)))
    console.log(line);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = results.every(({ status }) => status === 0) ? 0 : 1;

/** @returns true if all stages succeeded */
async function inTurn(sequence: readonly CiStage[], stopAtFailure: boolean): Promise<boolean> {
  let good = true;
  for (const stage of sequence) {
    const environment = { ...process.env, TEST_OUTCOMES: outcomes, ...stage.environment };
    console.log(`[${stage.name}] begins`);
    const result = await runStage(stage, root, environment, (line) => console.log(`[${stage.name}] ${line}`));
    const { status, wall, processor } = result;
    console.log(
      `[${stage.name}] ended with status ${status} after ${wall.toFixed(0)} s, ${processor.toFixed(0)} s of processor time`,
    );
    results.push(result);
    good &&= status === 0;
    if (!good && stopAtFailure) return false;
  }
  return good;
}
