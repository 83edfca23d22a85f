/**
 * `npm run fuzz`: passes a hundred thousand broken inputs to every parser. A parser may throw nothing but a VigieError,
 * and must always end.
 *
 *     npm run fuzz                                    every target, 100,000 inputs each; stops after 15 minutes
 *     npm run fuzz -- --for 30m --state FILE          stops after this time; repeat the command to continue
 *     npm run fuzz -- --list                          lists the targets
 *     npm run fuzz -- --target dbc --runs 5000        only some targets, fewer inputs
 *     npm run fuzz -- --seed 7 --seconds 60           different inputs; at most a minute for each target
 *     npm run fuzz -- --seed 101-110 --total 10m --state FILE
 *                                                     ten seeds, ten minutes for all targets of each seed
 *     npm run fuzz -- --seeds DIR                     files of a folder as additional seeds
 *     npm run fuzz -- --target dbc --input FILE       repeats one input
 *
 * Exit status 1 if a target failed; its input is then stored in a file.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { secondsOf } from '../seconds.ts';
import { type FuzzOutcome, joined, type Tally, tried } from './campaign.ts';
import { FuzzLedger, FuzzShares, seedsOf } from './ledger.ts';
import type { FuzzTarget } from './target.ts';
import { targets } from './targets/index.ts';
import { watched } from './watch.ts';

/** Length in bytes of the part of a larger seed file that is used. */
const LARGEST_SEED = 32 * 1024;

const { values: options, positionals } = read({
  allowPositionals: true,
  options: {
    target: { type: 'string', multiple: true, default: [] },
    runs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string' },
    total: { type: 'string' },
    for: { type: 'string', default: '15m' },
    state: { type: 'string' },
    seeds: { type: 'string', multiple: true, default: [] },
    input: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

/** Like `parseArgs`, which throws for unknown options, but prints the error and exits instead. */
function read<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    return wrong((error as Error).message);
  }
}

function wrong(message: string): never {
  console.error(message);
  process.exit(2);
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (text === '' || !Number.isSafeInteger(number) || number < 0)
    wrong(`--${name} takes a whole number, not '${text}'`);
  return number;
}

const names = targets.map(({ name }) => name);
if (positionals.length > 0) wrong(`${positionals.join(' ')}: a target is named with --target, as in --target dbc`);
const unknown = options.target.filter((name) => !names.includes(name));
if (unknown.length > 0) wrong(`no target ${unknown.join(', ')}; there are ${names.join(', ')}`);
const chosen = targets.filter(({ name }) => options.target.length === 0 || options.target.includes(name));

if (options.list) console.log(names.join('\n'));
else if (options.input !== undefined) await repeat(chosen, options.input);
else await fuzz(chosen);

/** Repeats one input in this thread, where a debugger can reach it. */
async function repeat(list: readonly FuzzTarget[], file: string): Promise<void> {
  const [target] = list;
  if (target === undefined || list.length > 1) wrong('--input needs one --target');
  const result = await tried(target, readFileSync(file));
  if (typeof result === 'string') {
    console.log(`${target.name}: ${result}`);
    process.exitCode = 1;
  } else console.log(`${target.name}: ${result ? 'accepted' : 'refused'}`);
}

async function fuzz(list: readonly FuzzTarget[]): Promise<void> {
  const extra = options.seeds.flatMap(filesOf);
  const seeds = seedsOf(options.seed) ?? wrong(`--seed takes a number or a range as 101-110, not '${options.seed}'`);
  const shares = options.total === undefined ? undefined : new FuzzShares(timeOf('total', options.total));
  const given = options.seconds === undefined ? undefined : whole('seconds', options.seconds);
  const runs = options.total === undefined ? whole('runs', options.runs) : Number.MAX_SAFE_INTEGER;
  const ledger = openLedger();
  const end = performance.now() + timeOf('for', options.for) * 1_000;
  for (const seed of seeds) {
    if (seeds.length > 1) console.log(`seed ${seed}`);
    console.log(row('target', 'inputs', 'accepted', 'refused', 'slowest, ms'));
    const open = list.filter(({ name }) => ledger.finished(seed, name) === undefined).length;
    shares?.begin(open, list.length);
    for (const target of list) {
      const known = ledger.finished(seed, target.name);
      if (known !== undefined) {
        show(target, known, known.failed !== undefined);
        if (known.failed === undefined) continue;
        process.exitCode = 1;
        console.log(`  FAILED in an earlier run: ${known.failed}`);
        continue;
      }
      const left = (end - performance.now()) / 1_000;
      if (left <= 0) return stop();
      const wanted = shares?.next() ?? given ?? Number.POSITIVE_INFINITY;
      const before = ledger.find(seed, target.name);
      const plan = { seed, runs, extra, first: before?.inputs ?? 0, seconds: Math.min(wanted, left) };
      const outcome = await watched(new URL('targets/index.ts', import.meta.url), target, plan);
      const { failure } = outcome;
      const tally = before === undefined ? outcome.tally : joined(before, outcome.tally);
      const partial = failure === undefined && left < wanted && tally.inputs < runs;
      show(target, tally, failure !== undefined);
      report(target, outcome, seed);
      ledger.keep(seed, target.name, {
        inputs: tally.inputs,
        accepted: tally.accepted,
        refused: tally.refused,
        slowest: tally.slowest,
        slowestInput: tally.slowestInput,
        ...(failure === undefined ? {} : { failed: failure.reason }),
        ...(partial ? { partial } : {}),
      });
      if (partial) return stop();
    }
  }
}

function stop(): void {
  const goesOn =
    options.state === undefined ? 'with --state FILE the same command would go on' : 'the same command goes on';
  console.log(`not all inputs are tried, since ${options.for} are over: ${goesOn}`);
}

function timeOf(name: string, text: string): number {
  return secondsOf(text) ?? wrong(`--${name} takes a time as 90s, 10m or 2h, not '${text}'`);
}

function openLedger(): FuzzLedger {
  try {
    return new FuzzLedger(options.state);
  } catch (error) {
    return wrong((error as Error).message);
  }
}

function show(target: FuzzTarget, { inputs, accepted, refused, slowest }: Tally, isFailed: boolean): void {
  const counts = isFailed ? (['', ''] as const) : ([accepted, refused] as const);
  console.log(row(target.name, inputs, ...counts, slowest.toFixed(1)));
}

function row(name: string, ...cells: readonly (string | number)[]): string {
  return [name.padEnd(20), ...cells.map((cell) => String(cell).padStart(11))].join(' ');
}

function report(target: FuzzTarget, { failure }: FuzzOutcome, seed: number): void {
  if (failure === undefined) return;
  process.exitCode = 1;
  const folder = join(tmpdir(), 'vigie-fuzz');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${target.name}-${seed}-${failure.number}`);
  writeFileSync(file, failure.input);
  console.log(`  FAILED at input ${failure.number} of ${failure.input.length} bytes: ${failure.reason}`);
  console.log(`  again: npm run fuzz -- --target ${target.name} --input ${file}`);
}

function filesOf(folder: string): Uint8Array[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .sort((a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).subarray(0, LARGEST_SEED));
}
