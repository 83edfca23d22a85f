/**
 * `npm run fuzz`: gives every parser a hundred thousand broken inputs each. Nothing but a VigieError may come out of
 * one, and none may take for ever.
 *
 *     npm run fuzz                                    every target, 100,000 inputs each
 *     npm run fuzz -- --list                          the targets
 *     npm run fuzz -- --target dbc --runs 5000        some of them, fewer inputs
 *     npm run fuzz -- --seed 7 --seconds 60           other inputs; a minute for each target at most
 *     npm run fuzz -- --seeds DIR                     files of a folder as further inputs to start from
 *     npm run fuzz -- --target dbc --input FILE       one input again
 *
 * Exit status 1 when a target failed; its input lies in a file then.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type FuzzOutcome, tried } from './campaign.ts';
import type { FuzzTarget } from './target.ts';
import { targets } from './targets/index.ts';
import { watched } from './watch.ts';

/** Of a larger seed file this much is taken. */
const LARGEST_SEED = 32 * 1024;

const { values: options, positionals } = read({
  allowPositionals: true,
  options: {
    target: { type: 'string', multiple: true, default: [] },
    runs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string' },
    seeds: { type: 'string', multiple: true, default: [] },
    input: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

/** As `parseArgs`, which throws for an option that there is none of. */
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

/** One input again, in this thread, where a debugger finds it. */
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
  const seed = whole('seed', options.seed);
  const plan = {
    seed,
    runs: whole('runs', options.runs),
    extra,
    ...(options.seconds === undefined ? {} : { seconds: whole('seconds', options.seconds) }),
  };
  console.log(row('target', 'inputs', 'accepted', 'refused', 'slowest, ms'));
  for (const target of list) {
    const outcome = await watched(new URL('targets/index.ts', import.meta.url), target, plan);
    const { inputs, accepted, refused, slowest } = outcome.tally;
    const counts = outcome.failure === undefined ? [accepted, refused] : ['', ''];
    console.log(row(target.name, inputs, counts[0] as number, counts[1] as number, slowest.toFixed(1)));
    report(target, outcome, seed);
  }
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
