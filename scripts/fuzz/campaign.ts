/** Runs a target on many inputs. Target, seed and number alone determine each input. */
import { setImmediate as turn } from 'node:timers/promises';
import { VigieError } from '../../protocol/errors.ts';
import { type Material, mutated } from './mutation.ts';
import { Random } from './random.ts';
import type { FuzzTarget } from './target.ts';

/** Limit in bytes for memory outside the heap, of which a parser of small inputs needs little. */
const MOST_OUTSIDE = 2 ** 30;
/** Number of inputs between two memory checks. */
const LOOK = 64;

export interface FuzzPlan {
  readonly seed: number;
  /** Number of the first input. Default: 0. */
  readonly first?: number;
  /** Number that follows that of the last input. */
  readonly runs: number;
  /** Time limit in seconds. */
  readonly seconds?: number;
  /** Additional seeds besides those of the target. */
  readonly extra?: readonly Uint8Array[];
}

export interface Tally {
  inputs: number;
  accepted: number;
  refused: number;
  /** CPU time in ms of the slowest input, and the number of this input. */
  slowest: number;
  slowestInput: number;
}

/** A failure, and the input that caused it. */
interface Failure {
  readonly number: number;
  readonly reason: string;
  readonly input: Uint8Array;
}

export interface FuzzOutcome {
  readonly tally: Tally;
  readonly failure?: Failure;
}

/** Returns the processor time of this thread in ms: other load on the machine must not count against the parser. */
function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Returns the number of bytes that buffers and libraries hold. */
function outside(): number {
  return process.memoryUsage().external;
}

/** Combines the tallies of two runs, of which the second follows the first. */
export function joined(one: Tally, other: Tally): Tally {
  const slower = other.slowest > one.slowest ? other : one;
  return {
    inputs: one.inputs + other.inputs,
    accepted: one.accepted + other.accepted,
    refused: one.refused + other.refused,
    slowest: slower.slowest,
    slowestInput: slower.slowestInput,
  };
}

export function materialOf(target: FuzzTarget, extra: readonly Uint8Array[] = []): Material {
  // Not Buffers, because their slices are not copies.
  const seeds = [...target.seeds(), ...extra].map((seed) => new Uint8Array(seed));
  if (seeds.length === 0) throw new Error(`fuzz target ${target.name} has no seeds`);
  return { seeds, words: (target.words ?? []).map((word) => new TextEncoder().encode(word)) };
}

/** Returns input `number` of a target. The first inputs are the unchanged seeds. */
export function inputOf(target: FuzzTarget, material: Material, seed: number, number: number): Uint8Array {
  const given = material.seeds[number];
  if (given !== undefined) return given;
  const random = new Random(target.name, seed, number);
  const input = mutated(material, random);
  return target.mend !== undefined && number % 2 === 0 ? new Uint8Array(target.mend(input)) : input;
}

/**
 * Runs the parser on one input.
 * @returns true or false, depending on whether the parser accepted it, or a description of the parser's defect
 */
export async function tried(target: FuzzTarget, input: Uint8Array): Promise<boolean | string> {
  // The parser receives a copy of the input: if it writes into it, the reported input must not change.
  try {
    return await target.run(input.slice());
  } catch (error) {
    if (error instanceof VigieError) return error.message === '' ? 'an error without a message' : false;
    return error instanceof Error ? (error.stack ?? error.message) : `thrown: ${String(error)}`;
  }
}

/**
 * Runs inputs until one fails or the last is done.
 * @param begin called with the number of each input before it is tried, to show progress
 */
export async function campaign(
  target: FuzzTarget,
  plan: FuzzPlan,
  begin: (number: number) => void = () => undefined,
): Promise<FuzzOutcome> {
  const material = materialOf(target, plan.extra);
  const tally: Tally = { inputs: 0, accepted: 0, refused: 0, slowest: 0, slowestInput: 0 };
  const end = performance.now() + (plan.seconds ?? Number.POSITIVE_INFINITY) * 1000;
  for (let number = plan.first ?? 0; number < plan.runs && performance.now() < end; number++) {
    const input = inputOf(target, material, plan.seed, number);
    begin(number);
    const from = cpuTime();
    const result = await tried(target, input);
    const time = cpuTime() - from;
    tally.inputs++;
    if (time > tally.slowest) {
      tally.slowest = time;
      tally.slowestInput = number;
    }
    if (typeof result === 'string') return { tally, failure: { number, reason: result, input } };
    if (result) tally.accepted++;
    else tally.refused++;
    if (number % LOOK !== 0) continue;
    // Node frees the memory of its libraries only between turns of the event loop.
    await turn();
    if (outside() > MOST_OUTSIDE) {
      // Objects that cannot be reached must not count. `gc` exists if Node was started with --expose-gc.
      (globalThis as { gc?: () => void }).gc?.();
      if (outside() > MOST_OUTSIDE) {
        const reason = `${Math.round(outside() / 2 ** 20)} MiB outside of the heap`;
        return { tally, failure: { number, reason, input } };
      }
    }
  }
  return { tally };
}
