/**
 * Seeds whose worlds broke no invariant, or drawn mutants that an invariant found, in small JSON files: a search skips them,
 * so that it continues where an earlier one stopped. Each run writes a file of its own, and all files of a folder count
 * together: copying files of two machines into one folder merges them. A number counts only for the sources that ran.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Run, Runs } from '../../protocol/runs.ts';

/** Directories whose files decide what happens in a world. */
const SOURCES = ['agent', 'hub', 'protocol', 'adapters/store', 'adapters/http', 'assembly', 'test/world'];

/** Contents of a file of the ledger. */
interface LedgerFile {
  /** SHA-256 of the sources, hexadecimal. */
  readonly digest: string;
  /** Commit of the checkout, for people. */
  readonly commit: string;
  /** ms that each world lasts, or that each mutant may take. */
  readonly length: number;
  /** Seeds, or places of mutants in the draw, from 1. */
  readonly passed: readonly Run[];
  /** Of an invariant that broke, or mutants that none found. */
  readonly broken: readonly number[];
}

export interface LedgerOptions {
  readonly folder: string;
  readonly digest: string;
  readonly commit: string;
  /** ms that each world lasts, or that each mutant may take. */
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
  /** No two runs have the same, also on different machines. */
  readonly #file: string;
  /** Of all files with this digest and length. */
  readonly #known = new Runs();
  readonly #knownBroken = new Set<number>();
  /** Of this run. */
  readonly #passed = new Runs();
  readonly #broken = new Set<number>();

  /** Reads the files of the folder, if there is one. Files of other sources stay and count for nothing. */
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

  /** Seeds that passed, those of earlier runs included. */
  get passed(): Runs {
    return this.#known;
  }

  /** Whether it ended with a broken invariant, or was not found, in one run and passed in none. */
  hasBroken(seed: number): boolean {
    return this.#knownBroken.has(seed) && !this.#known.has(seed);
  }

  add(seed: number, broken: boolean): void {
    if (broken) for (const seeds of [this.#knownBroken, this.#broken]) seeds.add(seed);
    else for (const runs of [this.#known, this.#passed]) runs.add(seed);
  }

  /** Replaces the file of this run as a whole; without a seed there is none. */
  write(): void {
    if (this.#passed.size + this.#broken.size === 0) return;
    const { digest, commit, length } = this.#options;
    const broken = [...this.#broken].sort((one, other) => one - other);
    const file: LedgerFile = { digest, commit, length, passed: this.#passed.all, broken };
    writeFileSync(`${this.#file}.tmp`, `${JSON.stringify(file)}\n`);
    renameSync(`${this.#file}.tmp`, this.#file);
  }
}
