/**
 * Seeds of worlds without a breach, or mutants that an invariant found, in small JSON files. A search skips them, and
 * so continues where an earlier one stopped. Each run writes its own file, and all files of a directory are combined:
 * copying files of two machines into one directory merges them. A number counts only for the same sources.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Run, Runs } from '../../protocol/runs.ts';

/** Directories whose files affect the events in a world. */
const SOURCES = ['agent', 'hub', 'protocol', 'adapters/store', 'adapters/http', 'assembly', 'test/world'];

/** Content of a ledger file. */
interface LedgerFile {
  /** SHA-256 of the sources, hexadecimal. */
  readonly digest: string;
  /** Commit of the checkout, as information. */
  readonly commit: string;
  /** Length of each world, or time limit for each mutant, ms. */
  readonly length: number;
  /** Seeds, or positions of mutants in the draw, from 1. */
  readonly passed: readonly Run[];
  /** Seeds with a breach, or mutants that no invariant found. */
  readonly broken: readonly number[];
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

/** SHA-256 over names and contents of the sources below `root`, hexadecimal. */
export function digestOfSources(root: string): string {
  const hash = createHash('sha256');
  for (const folder of SOURCES) {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((one) => one.endsWith('.ts')).sort()) {
      hash.update(`${folder}/${name}\0`).update(readFileSync(join(root, folder, name)));
    }
  }
  return hash.digest('hex');
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

  add(seed: number, broken: boolean): void {
    if (broken) for (const seeds of [this.#knownBroken, this.#broken]) seeds.add(seed);
    else for (const runs of [this.#known, this.#passed]) runs.add(seed);
  }

  /** Replaces the complete file of this run. Without seeds there is no file. */
  write(): void {
    if (this.#passed.size + this.#broken.size === 0) return;
    const { digest, commit, length } = this.#options;
    const broken = [...this.#broken].sort((one, other) => one - other);
    const file: LedgerFile = { digest, commit, length, passed: this.#passed.all, broken };
    writeFileSync(`${this.#file}.tmp`, `${JSON.stringify(file)}\n`);
    renameSync(`${this.#file}.tmp`, this.#file);
  }
}
