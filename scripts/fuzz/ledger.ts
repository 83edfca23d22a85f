/** Which targets a long run has finished, in a file: a run that was interrupted continues there. */
import { existsSync, readFileSync } from 'node:fs';
import { writeWholeFile } from '../whole-file.ts';
import type { Tally } from './campaign.ts';

/** Results of one target for one seed. */
export interface TargetResult extends Tally {
  /** The reason. */
  readonly failed?: string;
  /** The time was over: the other inputs are still to be tried. */
  readonly partial?: boolean;
}

type Seeds = Record<string, Record<string, TargetResult>>;

export class FuzzLedger {
  readonly #file: string | undefined;
  readonly #seeds: Seeds;

  /**
   * Reads the file if it is there; without one nothing is kept.
   * @throws Error for a file that is no ledger
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

  /** On disk as a whole, or not at all, when this returns. */
  keep(seed: number, target: string, result: TargetResult): void {
    this.#seeds[seed] = { ...this.#seeds[seed], [target]: result };
    if (this.#file === undefined) return;
    writeWholeFile(this.#file, `${JSON.stringify({ seeds: this.#seeds }, undefined, 1)}\n`);
  }
}

/** Least time of a target, s: a few inputs. */
const MIN_SHARE_SECONDS = 0.1;

/** Divides the time of one seed among its targets, with what starting each of them takes. */
export class FuzzShares {
  readonly #total: number;
  #end = 0;
  #open = 0;

  /** @param total seconds for all targets of a seed */
  constructor(total: number) {
    this.#total = total;
  }

  /** A seed begins: `open` of its `targets` are not finished. */
  begin(open: number, targets: number): void {
    this.#open = open;
    this.#end = performance.now() + (this.#total * 1000 * open) / targets;
  }

  /** Seconds for the next target. */
  next(): number {
    const left = (this.#end - performance.now()) / 1000;
    return Math.max(MIN_SHARE_SECONDS, left / Math.max(1, this.#open--));
  }
}

/** Seeds of `7` or `101-110`; undefined for other texts. */
export function seedsOf(text: string): readonly number[] | undefined {
  const [, first, last = first] = /^([0-9]{1,9})(?:-([0-9]{1,9}))?$/.exec(text) ?? [];
  if (first === undefined || Number(last) < Number(first)) return undefined;
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index);
}
