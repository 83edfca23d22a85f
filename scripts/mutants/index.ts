/**
 * `npm run mutants`: makes a defect in the source, as Stryker does, and runs simulated worlds until an invariant
 * detects it; one defect after the other, drawn with a seed. A ledger stores each result, so that the same command
 * continues with the remaining defects while the sources are unchanged.
 *
 *     npm run mutants                                  twenty of the parts that guarantee something; at most 15 minutes
 *     npm run mutants -- --for 30m                     stops after this time
 *     npm run mutants -- --count 5 --seed 3            five others
 *     npm run mutants -- --file agent/model/privacy.ts       only in this file; repeatable
 *     npm run mutants -- --minutes 2                   at most this long for each
 *     npm run mutants -- --only 17                     repeats the one with this number
 *     npm run mutants -- --ledger FOLDER               a ledger outside of test/world/ledger
 */

import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { defined } from '../../protocol/defined.ts';
import { INVARIANTS, type Invariant } from '../../test/world/invariants.ts';
import { digestOfWorlds, SeedLedger } from '../../test/world/ledger.ts';
import type { MutantWorld } from '../../test/world/mutant-worlds.ts';
import { secondsOf } from '../seconds.ts';
import { type DrawnMutant, drawMutants } from './draw.ts';
import { judgeRest } from './rest.ts';

const FILES = [
  'agent/outbox/gaps.ts',
  'agent/outbox/outbox.ts',
  'agent/outbox/queue.ts',
  'agent/model/privacy.ts',
  'agent/remotes/checks.ts',
  'agent/remotes/command-intake.ts',
  'agent/remotes/execution.ts',
  'agent/remotes/ledger.ts',
  'agent/remotes/remotes.ts',
  'agent/remotes/reports.ts',
  'adapters/store/contents.ts',
  'adapters/store/journal.ts',
  'adapters/store/replay.ts',
  'hub/core/intake.ts',
  'hub/core/message.ts',
  'hub/core/resend.ts',
];
/** Number of worlds without a defect. They determine which code is reached. */
const BASE = 8;
/** Largest number of worlds with one defect. */
const MOST = 10_000;
/** Time in ms after which a world counts as endless. */
const HANGS = 120_000;
/**
 * Smallest difference in ms between `--for` and `--minutes`: time for the worlds without a defect, and for one that
 * does not end.
 */
const SPARE = 180_000;

/**
 * Verdict on a mutant. `found` requires a broken invariant: a crash or an endless world is not enough. An `interrupted`
 * mutant was neither found nor run for its full time.
 */
interface End {
  readonly kind: 'found' | 'undecided' | 'survived' | 'interrupted';
  readonly text: string;
}
const SURVIVES: End = { kind: 'survived', text: 'SURVIVES' };
const NOT_REACHED: End = { kind: 'survived', text: 'not reached' };
const INTERRUPTED: End = { kind: 'interrupted', text: 'interrupted' };

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    file: { type: 'string', multiple: true, default: FILES },
    for: { type: 'string', default: '15m' },
    ledger: { type: 'string', default: resolve(import.meta.dirname, '../../test/world/ledger') },
    only: { type: 'string' },
  },
});

const begun = performance.now();
const root = resolve(import.meta.dirname, '../..');
const [count, seed, minutes] = [numberOf('count'), numberOf('seed'), numberOf('minutes')];
const limit = durationOf(values.for);
const only = values.only === undefined ? undefined : numberOf('only');
if (limit < minutes * 60_000 + SPARE) {
  refuse(`--for must be at least ${SPARE / 60_000} minutes longer than --minutes, is ${values.for}`);
}

const directory = mkdtempSync(join(tmpdir(), 'vigie-mutants-'));
const program = join(directory, 'worlds.mjs');
process.on('exit', () => rmSync(directory, { recursive: true }));
const drawn = await drawMutants(values.file, count, seed);
writeFileSync(program, drawn.program);
const ledger = await openLedger();

const wanted = drawn.drawn.filter(({ place }) => only === undefined || place === only);
if (only !== undefined && wanted.length === 0)
  refuse(`--only ${only} is none of the ${drawn.drawn.length} that are drawn`);
const isLeft = ({ place }: DrawnMutant): boolean =>
  place === only || !(ledger.passed.has(place) || ledger.hasBroken(place));
const rest = wanted.filter(isLeft);
if (rest.length > 0) await judge(rest);
const left = wanted.filter(({ place }) => !(ledger.passed.has(place) || ledger.hasBroken(place)));
const survivors = wanted.filter(({ place }) => ledger.hasBroken(place));
const found = wanted.length - left.length - survivors.length;
console.log(`${found} of ${wanted.length} found by an invariant, ${survivors.length} not found, ${left.length} left`);
for (const mutant of survivors) console.log(`not found: ${titleOf(mutant)}`);
if (left.length > 0) console.log('the same command goes on with the rest');
if (survivors.length > 0) process.exitCode = 1;

/** Judges mutants until the time is up. */
async function judge(mutants: readonly DrawnMutant[]): Promise<void> {
  const reached = new Set<string>();
  const base = await live(undefined, BASE, limit, (world) => {
    for (const id of world.reached) reached.add(id);
  });
  if (base.kind !== 'survived') {
    console.error(`without a defect ${base.text}`);
    process.exit(1);
  }
  console.log(
    `${wanted.length} of ${drawn.all} mutants, of which the worlds reach ${reached.size}; ${mutants.length} left`,
  );
  await judgeRest(mutants, ledger, async (mutant) => {
    const own = minutes * 60_000;
    const allowed = Math.min(own, limit - (performance.now() - begun));
    if (allowed <= 0) return undefined;
    console.log(titleOf(mutant));
    const from = performance.now();
    const lived = reached.has(mutant.id) ? await live(mutant.id, MOST, allowed) : NOT_REACHED;
    const end = lived === SURVIVES && allowed < own ? INTERRUPTED : lived;
    console.log(`    ${end.text} after ${((performance.now() - from) / 1_000).toFixed(0)} s`);
    return end.kind === 'interrupted' ? undefined : end.kind === 'found';
  });
}

function titleOf({ place, fileName, mutatorName, replacement, location: { start } }: DrawnMutant): string {
  const at = `${relative(root, fileName)}:${start.line + 1}:${start.column + 1}`;
  return `${place} ${at} ${mutatorName}: ${replacement.replaceAll(/\s+/g, ' ').slice(0, 120)}`;
}

/** Opens the ledger for this draw and these sources. Seed and files determine the position of each mutant. */
async function openLedger(): Promise<SeedLedger> {
  const sources = values.file.map((path) => [path, readFileSync(resolve(root, path), 'utf8')]);
  const digest = createHash('sha256')
    .update(`mutants ${await digestOfWorlds()} ${JSON.stringify([seed, sources])}`)
    .digest('hex');
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' }).trim();
  return new SeedLedger({ folder: values.ledger, digest, commit, length: minutes * 60_000, first: 1 });
}

function numberOf(name: 'count' | 'seed' | 'minutes' | 'only'): number {
  const value = Number(values[name]);
  return value > 0 ? value : refuse(`--${name} must be a number above 0, is ${values[name]}`);
}

/** Returns the milliseconds that `90s`, `10m` or `2h` means. */
function durationOf(text: string): number {
  const seconds = secondsOf(text);
  return seconds === undefined ? refuse(`--for must be a time such as 90s, 10m or 2h, is ${text}`) : seconds * 1_000;
}

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

/** Runs worlds with a mutant until one breaks an invariant or does not end. */
function live(
  id: string | undefined,
  worlds: number,
  duration: number,
  lived: (world: MutantWorld) => void = () => undefined,
): Promise<End> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...defined({ __STRYKER_ACTIVE_MUTANT__: id }) };
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
    const hangs: End = { kind: 'undecided', text: `undecided: a world did not end in ${HANGS / 1_000} s` };
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
