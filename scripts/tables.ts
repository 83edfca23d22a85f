/**
 * `npm run tables`: reads generated tables of frames, with layouts that any tool may write, and stops at the first
 * missing frame.
 *
 *     npm run tables -- --runs 1000000 --for 15m --state FILE   a million tables, 15 minutes per run: repeat the command
 *                                                               to continue, as long as the sources are unchanged
 *     npm run tables -- --seed 42                               one table again, with its text
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkTable } from '../test/adapters/can/log/tables/check.ts';
import { secondsOf } from './seconds.ts';
import { writeWholeFile } from './whole-file.ts';

/** Number of tables between two writes of the state. */
const TABLES_PER_STATE = 10_000;
const SOURCES = ['adapters/can/log', 'test/adapters/can/log/tables'];
const root = fileURLToPath(new URL('..', import.meta.url));

/** Number of initial seeds that passed with these sources. */
interface State {
  readonly digest: string;
  readonly passed: number;
  readonly refused: number;
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100000' },
    for: { type: 'string', default: '15m' },
    state: { type: 'string' },
    seed: { type: 'string' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'vigie-tables-'));
const file = join(folder, 'table');
try {
  if (values.seed === undefined) await readAll(Number(values.runs), (secondsOf(values.for) ?? Number.NaN) * 1000);
  else {
    console.log(await checkTable(Number(values.seed), file));
    console.log(readFileSync(file).toString('latin1'));
  }
} finally {
  rmSync(folder, { recursive: true });
}

async function readAll(runs: number, limit: number): Promise<void> {
  const begun = performance.now();
  const digest = digestOf();
  let { passed, refused } = stateIn(digest);
  while (passed < runs && performance.now() - begun < limit) {
    const outcome = await checkTable(passed + 1, file);
    if (outcome.kind === 'wrong') {
      console.error(`seed ${passed + 1}: ${outcome.message}`);
      process.exitCode = 1;
      break;
    }
    if (outcome.kind === 'refused') refused++;
    passed++;
    if (passed % TABLES_PER_STATE === 0) write({ digest, passed, refused });
  }
  write({ digest, passed, refused });
  console.log(`${passed} of ${runs} tables passed with these sources, ${refused} of them refused by name`);
}

function stateIn(digest: string): State {
  const none = { digest, passed: 0, refused: 0 };
  if (values.state === undefined || !existsSync(values.state)) return none;
  const state = JSON.parse(readFileSync(values.state, 'utf8')) as State;
  return state.digest === digest ? state : none;
}

function write(state: State): void {
  if (values.state === undefined) return;
  writeWholeFile(values.state, `${JSON.stringify(state)}\n`);
}

function digestOf(): string {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    const names = readdirSync(join(root, source), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    for (const name of names.sort()) hash.update(`${name}\0`).update(readFileSync(join(root, source, name)));
  }
  return hash.digest('hex');
}
