/**
 * `npm run mutants`: makes a defect in the source, as Stryker does, and lives through worlds until an invariant finds it;
 * one defect after the other. They are drawn by a seed.
 *
 *     npm run mutants                                  twenty of the parts that keep promises
 *     npm run mutants -- --count 5 --seed 3            five others
 *     npm run mutants -- --file agent/privacy.ts       of one file; may be given several times
 *     npm run mutants -- --minutes 2                   at most so long for each
 *     npm run mutants -- --only 17                     the one with this number
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { INVARIANTS, type Invariant } from '../../test/world/invariants.ts';
import type { MutantWorld } from '../../test/world/mutant-worlds.ts';
import { drawMutants } from './draw.ts';

const FILES = [
  'agent/outbox/gaps.ts',
  'agent/outbox/outbox.ts',
  'agent/outbox/queue.ts',
  'agent/privacy.ts',
  'agent/remotes/checks.ts',
  'agent/remotes/command-intake.ts',
  'agent/remotes/execution.ts',
  'agent/remotes/ledger.ts',
  'agent/remotes/remotes.ts',
  'agent/remotes/reports.ts',
  'adapters/store/contents.ts',
  'adapters/store/journal.ts',
  'adapters/store/replay.ts',
  'hub/intake.ts',
  'hub/message.ts',
  'hub/resend.ts',
];
/** Worlds without a defect, which tell what is reached. */
const BASE = 8;
/** Worlds with a defect at most. */
const MOST = 10_000;
/** A world that takes longer does not end, ms. */
const HANGS = 600_000;

/** What the worlds say of a mutant: only a broken invariant finds it, neither a crash nor a world that does not end. */
interface End {
  readonly kind: 'found' | 'undecided' | 'survived';
  readonly text: string;
}
const SURVIVES: End = { kind: 'survived', text: 'SURVIVES' };
const NOT_REACHED: End = { kind: 'survived', text: 'not reached' };

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    file: { type: 'string', multiple: true, default: FILES },
    only: { type: 'string' },
  },
});

function numberOf(name: 'count' | 'seed' | 'minutes'): number {
  const value = Number(values[name]);
  if (value > 0) return value;
  console.error(`--${name} must be a number above 0, is ${values[name]}`);
  process.exit(2);
}

const root = resolve(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'vigie-mutants-'));
const program = join(directory, 'worlds.mjs');
process.on('exit', () => rmSync(directory, { recursive: true }));
const drawn = await drawMutants(values.file, numberOf('count'), numberOf('seed'));
writeFileSync(program, drawn.program);

const reached = new Set<string>();
const base = await live(undefined, BASE, Number.POSITIVE_INFINITY, (world) => {
  for (const id of world.reached) reached.add(id);
});
if (base.kind !== 'survived') {
  console.error(`without a defect ${base.text}`);
  process.exit(1);
}
const wanted = drawn.drawn.filter(({ id }) => values.only === undefined || values.only === id);
console.log(`${wanted.length} of ${drawn.all} mutants, of which the worlds reach ${reached.size}`);
let [found, undecided] = [0, 0];
for (const mutant of wanted) {
  const { id, fileName, mutatorName, replacement, location } = mutant;
  const line = `${relative(root, fileName)}:${location.start.line + 1}:${location.start.column + 1}`;
  console.log(`${id} ${line} ${mutatorName}: ${replacement.replaceAll(/\s+/g, ' ').slice(0, 120)}`);
  const begun = performance.now();
  const end = reached.has(id) ? await live(id, MOST, numberOf('minutes') * 60_000) : NOT_REACHED;
  if (end.kind === 'found') found++;
  if (end.kind === 'undecided') undecided++;
  console.log(`    ${end.text} after ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
}
const survived = wanted.length - found - undecided;
console.log(`${found} of ${wanted.length} found by an invariant, ${undecided} undecided, ${survived} survived`);
if (found < wanted.length) process.exitCode = 1;

/** Lives through worlds with a mutant until one breaks an invariant, or does not end. */
function live(
  id: string | undefined,
  worlds: number,
  duration: number,
  lived: (world: MutantWorld) => void = () => undefined,
): Promise<End> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...(id === undefined ? {} : { __STRYKER_ACTIVE_MUTANT__: id }) };
    const worker = spawn(process.execPath, [program, String(worlds)], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const end = performance.now() + duration;
    let count = 0;
    let crash = '';
    const finish = (result: End): void => {
      clearTimeout(timer);
      worker.kill('SIGKILL');
      if (result.kind !== 'found' && crash !== '') console.log(`    crashes, ${count} worlds: ${crash}`);
      resolve(result);
    };
    const hangs: End = { kind: 'undecided', text: `undecided: did not end in ${HANGS / 1_000} s` };
    const timer = setTimeout(() => finish(hangs), HANGS);
    worker.stderr.on('data', (text: Buffer) => {
      crash = `${crash}${text}`.slice(-2_000);
    });
    createInterface({ input: worker.stdout }).on('line', (line) => {
      timer.refresh();
      const world = JSON.parse(line) as MutantWorld;
      count++;
      lived(world);
      if (world.crash !== undefined) crash = world.crash;
      const [first] = world.invariants;
      if (first !== undefined) {
        finish({ kind: 'found', text: `found in world ${world.world}: ${INVARIANTS[first as Invariant]}` });
      } else if (performance.now() > end) finish(SURVIVES);
    });
    worker.on('close', () => finish(SURVIVES));
  });
}
