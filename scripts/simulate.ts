/**
 * `npm run simulate`: simulates the world of one seed, or all small worlds, or searches for a seed whose world breaks
 * an invariant.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Runs } from '../protocol/runs.ts';
import { INVARIANTS } from '../test/world/invariants.ts';
import { digestOfWorlds, SeedLedger, type WorldCost } from '../test/world/ledger.ts';
import { planOf } from '../test/world/newest-plan.ts';
import type { Plan } from '../test/world/plan.ts';
import { searchWorlds } from '../test/world/search.ts';
import { shrink } from '../test/world/shrink.ts';
import { explore } from '../test/world/small.ts';
import { type Outcome, runWorld } from '../test/world/world.ts';
import { secondsOf } from './seconds.ts';

const DAY = 24 * 3_600_000;
const SEARCHED = 10 * 60_000;
const USAGE =
  'usage: npm run simulate -- [--seed N] [--days D | --minutes M] [--search 10m | --runs N [--for 15m] [--ledger FOLDER]] ' +
  '[--all] [--jobs J] | --small';
const root = fileURLToPath(new URL('..', import.meta.url));
/** Number of worlds between two writes of the ledger. Each write comes with a progress report. */
const WORLDS_PER_REPORT = 25;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    days: { type: 'string' },
    minutes: { type: 'string' },
    search: { type: 'string' },
    runs: { type: 'string' },
    all: { type: 'boolean', default: false },
    for: { type: 'string', default: '15m' },
    ledger: { type: 'string', default: join(root, 'test/world/ledger') },
    jobs: { type: 'string', default: '1' },
    small: { type: 'boolean', default: false },
  },
});

const first = numberOf(values.seed, 'seed');
const length =
  values.days !== undefined
    ? numberOf(values.days, 'days') * DAY
    : values.minutes !== undefined
      ? numberOf(values.minutes, 'minutes') * 60_000
      : SEARCHED;
if (values.small) await liveThroughSmall();
else if (values.search !== undefined) await search(Number.POSITIVE_INFINITY, durationOf(values.search, 'search'));
else if (values.runs !== undefined) await searchOnce(numberOf(values.runs, 'runs'));
else await live(first);

async function live(seed: number): Promise<void> {
  const plan = planOf(seed, length);
  const outcome = await runWorld(plan);
  report(seed, outcome);
  if (outcome.breaches.length > 0) await explain(plan, outcome);
}

/** Searches for broken invariants. Skips worlds that passed earlier with the same sources. */
async function searchOnce(runs: number): Promise<void> {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' }).trim();
  const digest = await digestOfWorlds();
  const ledger = new SeedLedger({ folder: values.ledger, digest, commit, length, first });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      ledger.write();
      process.exit(1);
    });
  }
  await search(runs, durationOf(values.for, 'for'), ledger);
  ledger.write();
  const wanted = new Runs();
  wanted.add(first, first + runs - 1);
  for (const [from, to] of ledger.passed.all) wanted.remove(from, to);
  console.log(
    `${runs - wanted.size} of ${runs} seeds from ${first} on have passed with these sources (${values.ledger})` +
      `${wanted.size > 0 ? '; the same command runs the others' : ''}`,
  );
  console.log(`sources ${digest}: ${ledger.passed.size} seeds, ${costOf(ledger.cost)}`);
}

async function search(runs: number, duration: number, ledger?: SeedLedger): Promise<void> {
  const begun = performance.now();
  let [worlds, faults, cars, processor] = [0, 0, 0, 0];
  const broken = await searchWorlds({
    firstSeed: first,
    length,
    processes: numberOf(values.jobs, 'jobs'),
    all: values.all,
    ...(ledger === undefined ? {} : { skips: (seed: number) => ledger.passed.has(seed) }),
    continues: (count) => count < runs && performance.now() - begun < duration,
    lived: (world) => {
      worlds++;
      faults += world.faults;
      cars += world.cars;
      processor += world.processor;
      ledger?.add(world.seed, world.breaches > 0, world);
      if (world.breaches > 0) console.error(`seed ${world.seed}: a broken invariant`);
      if (worlds % WORLDS_PER_REPORT !== 0) return;
      ledger?.write();
      console.error(`${worlds} worlds, ${faults} faults, ${minutesSince(begun).toFixed(1)} minutes`);
    },
  });
  if (worlds === 0) return;
  const minutes = minutesSince(begun);
  console.log(
    `${worlds} worlds from seed ${first} on, ${(worlds / minutes).toFixed(0)} each minute, ${faults} faults, ` +
      `${(faults / worlds).toFixed(0)} in each world, ${costOf({ cars, processor })}, ` +
      `${broken.length} with a broken invariant`,
  );
  if (broken.length > 0) console.log(`broken: ${broken.join(', ')}`);
  // Simulate the first one again to print its story.
  for (const seed of broken.slice(0, 1)) await live(seed);
}

/** Returns the simulated hours of cars, and how many of them an hour of a processor simulates. */
function costOf({ cars, processor }: WorldCost): string {
  return `${(cars / 3_600_000).toFixed(1)} car-hours, ${(cars / processor).toFixed(0)} for each processor hour`;
}

function minutesSince(begun: number): number {
  return (performance.now() - begun) / 60_000;
}

/** Simulates all small worlds: each step of the second command combined with each disk operation. */
async function liveThroughSmall(): Promise<void> {
  const { worlds, different, broken } = await explore({ steps: 1, cuts: 1, media: 2 });
  console.log(`${worlds} small worlds, ${different.size} different, ${broken.length} with a broken invariant`);
  const [first] = broken;
  if (first === undefined) return;
  process.exitCode = 1;
  console.log(JSON.stringify(first.small));
  for (const line of first.lived.story) console.log(line);
}

function report(seed: number, { hash, faults, lines, counts, lasted, breaches }: Outcome): void {
  const { published, acts, ended, starts } = counts;
  console.log(`seed ${seed}: ${(lasted / 60_000).toFixed(1)} minutes, ${faults} faults, ${starts} starts of an agent,`);
  console.log(`  ${published} messages, ${ended} commands ended, ${acts} actions; ${lines} lines, SHA-256 ${hash}`);
  for (const { invariant, detail } of breaches) console.log(`  broken: ${INVARIANTS[invariant]} ${detail}`);
}

/** Prints the shortest story that has the same outcome. */
async function explain(plan: Plan, outcome: Outcome): Promise<void> {
  process.exitCode = 1;
  const short = await shrink(plan, outcome);
  console.log(`shortest plan: ${short.plan.happenings.length} of ${plan.happenings.length} happenings`);
  for (const line of short.outcome.story) console.log(line);
}

function numberOf(text: string, name: string): number {
  const value = Number(text);
  if (value > 0) return value;
  console.error(`--${name} must be a number above 0, is ${text}; ${USAGE}`);
  process.exit(2);
}

/** Returns the milliseconds that `90s`, `10m` or `2h` means. */
function durationOf(text: string, name: string): number {
  const seconds = secondsOf(text);
  if (seconds !== undefined) return seconds * 1_000;
  console.error(`--${name} must be a time such as 90s, 10m or 2h, is ${text}; ${USAGE}`);
  process.exit(2);
}
