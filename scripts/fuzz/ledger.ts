/** File with the targets that a long run has finished. After an interruption, the run continues from it. */
import { existsSync, readFileSync } from 'node:fs';
import { writeWholeFile } from '../whole-file.ts';
import type { Tally } from './campaign.ts';

/** Results of one target for one seed. */
export interface TargetResult extends Tally {
  /** Message of the failure. */
  readonly failed?: string;
  /** If true, time ran out before all inputs were tried. */
  readonly partial?: boolean;
}

type Seeds = Record<string, Record<string, TargetResult>>;

export class FuzzLedger {
  readonly #file: string | undefined;
  readonly #seeds: Seeds;

  /**
   * Reads the file if it exists. If `file` is omitted, no results are stored.
   * @throws Error if the file is not a ledger
   */
  constructor(file?: string) {
    this.#file = file;
    const kept = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    try {
      this.#seeds = kept === undefined ? {} : (JSON.parse(kept) as { seeds: Seeds }).seeds;
    } catch (cause) {
      throw new Error(`${file} is not a state of npm run fuzz: remove it to start over`, { cause });
    }
  }

  find(seed: number, target: string): TargetResult | undefined {
    return this.#seeds[seed]?.[target];
  }

  finished(seed: number, target: string): TargetResult | undefined {
    const result = this.find(seed, target);
    return result?.partial ? undefined : result;
  }

  /** Stores a result. When this returns, the file on disk is complete. */
  keep(seed: number, target: string, result: TargetResult): void {
    this.#seeds[seed] = { ...this.#seeds[seed], [target]: result };
    if (this.#file === undefined) return;
    writeWholeFile(this.#file, `${JSON.stringify({ seeds: this.#seeds }, undefined, 1)}\n`);
  }
}

/** Shortest time in s for a target: enough for a few inputs. */
const MIN_SHARE_SECONDS = 0.1;

/** Divides the time for one seed among the targets, including the startup time of each. */
export class FuzzShares {
  readonly #total: number;
  #end = 0;
  #open = 0;

  /** @param total time in s for all targets of a seed */
  constructor(total: number) {
    this.#total = total;
  }

  /** Starts a seed of which `open` of the `targets` targets are not finished. */
  begin(open: number, targets: number): void {
    this.#open = open;
    this.#end = performance.now() + (this.#total * 1000 * open) / targets;
  }

  /** Returns the time in s for the next target. */
  next(): number {
    const left = (this.#end - performance.now()) / 1000;
    return Math.max(MIN_SHARE_SECONDS, left / Math.max(1, this.#open--));
  }
}

/** Returns the seeds that `7` or `101-110` describes; undefined for any other string. */
export function seedsOf(text: string): readonly number[] | undefined {
  const [, first, last = first] = /^([0-9]{1,9})(?:-([0-9]{1,9}))?$/.exec(text) ?? [];
  if (first === undefined || Number(last) < Number(first)) return undefined;
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index);
}
