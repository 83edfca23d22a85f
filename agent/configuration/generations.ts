/**
 * Selects the active configuration: the file on the unit, or one that was sent (a generation). A sent configuration is
 * on trial until the agent reaches the broker with it and reads what it read before; until then the last good one is kept.
 */
import { defined } from '../../protocol/defined.ts';
import { shortened } from '../../protocol/errors.ts';
import type { HelloConfiguration } from '../../protocol/schema/hello.ts';
import type { DeliveringSource } from './trial.ts';

/** Time in ms for a configuration on trial to reach the broker, and for which it may be wrong. */
export const TRIAL = 600_000;
/** Time for which a configuration may be on trial in a car that is not used. */
export const PARKED_TRIAL_DAYS = 7;
/** Number of starts without success after which a configuration on trial is given up. */
export const TRIAL_STARTS = 3;
/** Generation number of the file on the unit. */
export const LOCAL = 0;

/** Persisted form of the generations. */
export interface Generations {
  /** The last good generation. */
  readonly good: number;
  /** The generation on trial, with the number of its starts. */
  readonly trial?: {
    readonly number: number;
    readonly starts: number;
    readonly digest?: string;
    /** Time of its receipt, UTC ms. */
    readonly since?: number;
    /** Parts that had a fault when it was received. */
    readonly faults?: readonly string[];
  };
  /** Sources that delivered readings with the last good generation. */
  readonly delivered?: readonly DeliveringSource[];
  /** Number of the next generation. A number is never used again. */
  readonly next: number;
  /** Content of the unit's own file when a generation replaced it. */
  readonly local?: string;
  /** Outcome of the last configuration that was sent, for people and the cloud. */
  readonly outcome?: HelloConfiguration;
}

export const noGenerations: Generations = { good: LOCAL, next: 1 };

/** Returns `data` if it has the form of {@link Generations}, or undefined. */
export function readGenerations(data: unknown): Generations | undefined {
  const { good, next, trial } = (data ?? {}) as Partial<Generations>;
  const whole = (number: unknown): number is number => Number.isSafeInteger(number) && (number as number) >= 0;
  if (!whole(good) || !whole(next) || next <= good) return undefined;
  if (trial !== undefined && !(whole(trial.number) && whole(trial.starts) && trial.number < next)) return undefined;
  return data as Generations;
}

/** Returns the generation to start with. */
export function current({ good, trial }: Generations): number {
  return trial?.number ?? good;
}

/** Returns the numbers of the generations that are in use and must be kept. */
export function needed({ good, trial }: Generations): readonly number[] {
  return [good, ...(trial === undefined ? [] : [trial.number])].filter((number) => number !== LOCAL);
}

/** Call when the agent starts. `local` identifies the content of the unit's own file. */
export function start(generations: Generations, local: string): Generations {
  const { trial } = generations;
  if (current(generations) !== LOCAL && generations.local !== undefined && generations.local !== local) {
    const detail = 'the file on the unit was changed: it is in effect again';
    return { good: LOCAL, next: generations.next, outcome: { generation: LOCAL, state: 'superseded', detail } };
  }
  if (trial === undefined) return generations;
  if (trial.starts >= TRIAL_STARTS) {
    return returned(generations, `the agent was started ${trial.starts} times without success`);
  }
  return { ...generations, trial: { ...trial, starts: trial.starts + 1 } };
}

/** Puts a valid configuration on trial from the next start on. `digest` identifies it. */
export function take(
  generations: Generations,
  local: string,
  digest: string,
  circumstances: { readonly since?: number; readonly faults?: readonly string[] } = {},
): Generations {
  const number = generations.next;
  return {
    ...generations,
    trial: { number, starts: 0, digest, ...circumstances },
    next: number + 1,
    local,
    outcome: { generation: number, state: 'trial', digest },
  };
}

/** Returns true if the configuration that was sent with this digest is active. */
export function holds({ outcome }: Generations, digest: string): boolean {
  return outcome?.digest === digest && outcome.state !== 'returned';
}

/** Call when the agent works with the active configuration. `delivered`: sources that deliver readings with it. */
export function proven(generations: Generations, delivered: readonly DeliveringSource[] = []): Generations {
  const { trial, ...rest } = generations;
  if (trial === undefined) return generations;
  const outcome = { generation: trial.number, state: 'applied', ...digestOf(trial) } as const;
  return { ...rest, good: trial.number, delivered, outcome };
}

/** Adds a source that has delivered readings with the last good configuration. */
export function withDelivered(generations: Generations, { kind, name }: DeliveringSource): Generations {
  const { delivered = [] } = generations;
  if (delivered.some((one) => one.kind === kind && one.name === name)) return generations;
  return { ...generations, delivered: [...delivered, { kind, name }] };
}

/** Replaces the failed configuration on trial by the last good one. `why` is the reason. */
export function returned(generations: Generations, why: string): Generations {
  const { trial, ...rest } = generations;
  if (trial === undefined) return generations;
  const detail = shortened(`generation ${trial.number} was given up: ${why}`, 256);
  return { ...rest, outcome: { generation: rest.good, state: 'returned', detail, ...digestOf(trial) } };
}

/** Returns an empty object for a trial that an older agent started. */
function digestOf({ digest }: { readonly digest?: string }): { readonly digest?: string } {
  return defined({ digest });
}

/** Returns the report for `hello`. */
export function helloConfiguration(generations: Generations): HelloConfiguration {
  const state = current(generations) === LOCAL ? 'local' : 'applied';
  return generations.outcome ?? { generation: current(generations), state };
}
