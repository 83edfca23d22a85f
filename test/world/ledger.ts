/**
 * Seeds of worlds without a breach, or mutants that an invariant found, in small JSON files. A search skips them, and
 * so continues where an earlier one stopped. Each run writes its own file, and all files of a directory are combined:
 * copying files of two machines into one directory merges them. A number counts only for the same sources.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Run, Runs } from '../../protocol/runs.ts';
import { bundleWorlds } from './bundle.ts';

const HOUR = 3_600_000;
const PROGRAM = `
  import { planOf } from './newest-plan.ts';
  import { runWorld } from './world.ts';
  console.log(runWorld, planOf);
`;

/** Simulated time of all cars, and the processor time that it took. */
export interface WorldCost {
  /** ms */
  readonly cars: number;
  /** ms */
  readonly processor: number;
}

/** Content of a ledger file. */
interface LedgerFile {
  /** Digest of the sources, hexadecimal. */
  readonly digest: string;
  /** Commit of the checkout, as information. */
  readonly commit: string;
  /** Length of each world, or time limit for each mutant, ms. */
  readonly length: number;
  /** Seeds, or positions of mutants in the draw, from 1. */
  readonly passed: readonly Run[];
  /** Seeds with a breach, or mutants that no invariant found. */
  readonly broken: readonly number[];
  /** Number of seeds in `passed`, with hours of simulated cars and of a processor. Omitted for mutants. */
  readonly seeds?: number;
  readonly carHours?: number;
  readonly processorHours?: number;
}

export interface LedgerOptions {
  readonly folder: string;
  readonly digest: string;
  readonly commit: string;
  /** Length of each world, or time limit for each mutant, ms. */
  readonly length: number;
  /** First seed of this run, or first mutant. */
  readonly first: number;
}

/**
 * SHA-256 over the program of the worlds, hexadecimal: the sources and packages that it loads, without their comments
 * and types. `source` returns the text that replaces a file.
 */
export async function digestOfWorlds(source: Parameters<typeof bundleWorlds>[1] = () => undefined): Promise<string> {
  const program = await bundleWorlds(PROGRAM, source);
  return createHash('sha256').update(program).digest('hex');
}

export class SeedLedger {
  readonly #options: LedgerOptions;
  /** Unique name, also across machines. */
  readonly #file: string;
  /** Numbers from all files with this digest and length. */
  readonly #known = new Runs();
  readonly #knownBroken = new Set<number>();
  /** Numbers of this run. */
  readonly #passed = new Runs();
  readonly #broken = new Set<number>();
  #cost: WorldCost = { cars: 0, processor: 0 };
  #knownCost: WorldCost = { cars: 0, processor: 0 };

  /** Reads the files of the directory, if it exists. Files for other sources are kept and ignored. */
  constructor(options: LedgerOptions) {
    this.#options = options;
    const { folder, digest, length, first } = options;
    const run = randomBytes(4).toString('hex');
    this.#file = join(folder, `${digest.slice(0, 12)}-${length / 60_000}m-${first}-${run}.json`);
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.json'))) {
      const file = JSON.parse(readFileSync(join(folder, name), 'utf8')) as LedgerFile;
      if (file.digest !== digest || file.length !== length) continue;
      for (const [from, to] of file.passed) this.#known.add(from, to);
      for (const seed of file.broken) this.#knownBroken.add(seed);
      const { carHours = 0, processorHours = 0 } = file;
      this.#knownCost = sumOf(this.#knownCost, { cars: carHours * HOUR, processor: processorHours * HOUR });
    }
  }

  /** Seeds that passed, including those of earlier runs. */
  get passed(): Runs {
    return this.#known;
  }

  /** Whether the seed broke an invariant, or the mutant survived, in one run and passed in none. */
  hasBroken(seed: number): boolean {
    return this.#knownBroken.has(seed) && !this.#known.has(seed);
  }

  /** Cost of all runs with these sources. */
  get cost(): WorldCost {
    return this.#knownCost;
  }

  add(seed: number, broken: boolean, cost: WorldCost = { cars: 0, processor: 0 }): void {
    this.#cost = sumOf(this.#cost, cost);
    this.#knownCost = sumOf(this.#knownCost, cost);
    if (broken) for (const seeds of [this.#knownBroken, this.#broken]) seeds.add(seed);
    else for (const runs of [this.#known, this.#passed]) runs.add(seed);
  }

  /** Replaces the complete file of this run. Without seeds there is no file. */
  write(): void {
    if (this.#passed.size + this.#broken.size === 0) return;
    const { digest, commit, length } = this.#options;
    const broken = [...this.#broken].sort((one, other) => one - other);
    const passed = this.#passed.all;
    const { cars, processor } = this.#cost;
    const worlds =
      cars === 0
        ? {}
        : { seeds: this.#passed.size, carHours: rounded(cars / HOUR), processorHours: rounded(processor / HOUR) };
    const file: LedgerFile = { digest, commit, length, ...worlds, passed, broken };
    writeFileSync(`${this.#file}.tmp`, `${JSON.stringify(file)}\n`);
    renameSync(`${this.#file}.tmp`, this.#file);
  }
}

function sumOf(one: WorldCost, other: WorldCost): WorldCost {
  return { cars: one.cars + other.cars, processor: one.processor + other.processor };
}

function rounded(hours: number): number {
  return Math.round(hours * 1e6) / 1e6;
}
