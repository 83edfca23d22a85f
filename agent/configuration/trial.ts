/** Judges a configuration on trial: with it the agent must read what it read before, without a new fault. */
import type { SourceHealth } from '../ports.ts';

/** Frames of a bus, answers to requests, or readings of a device off the car's buses. */
export type SourceKind = 'frames' | 'requests' | 'receiver';

/** A source that delivered readings. */
export interface DeliveringSource {
  readonly kind: SourceKind;
  readonly name: string;
}

/** Activity of a source since the start of the agent. */
export interface TrialSource extends DeliveringSource {
  readonly state: SourceHealth['state'];
  /** Reason why it waits. */
  readonly reason?: string;
  /** True if frames or answers arrive, including those that the profile does not name. */
  readonly speaks: boolean;
  readonly readings: number;
}

/** State of the agent that runs with the configuration. */
export interface TrialObservation {
  readonly sources: readonly TrialSource[];
  readonly inUse: boolean;
  readonly asleep: boolean;
  /** Faults in the report of the agent by their part, for people. */
  readonly faults: Readonly<Record<string, string>>;
}

/** `parked`: the car is not in use, so that a silent source may still be right. */
export type TrialVerdict = { readonly state: 'good' } | { readonly state: 'wrong' | 'parked'; readonly why: string };

/**
 * Returns whether the configuration works. `before`: sources that delivered readings with the last good configuration;
 * `knownFaults`: parts that had a fault with it.
 */
export function judgeTrial(
  { sources, inUse, asleep, faults }: TrialObservation,
  before: readonly DeliveringSource[],
  knownFaults: readonly string[],
): TrialVerdict {
  const fault = Object.entries(faults).find(([part]) => !knownFaults.includes(part));
  if (fault !== undefined) return { state: 'wrong', why: fault[1] };
  const silent = missingSources(sources, before);
  const [first] = silent;
  if (first === undefined) return { state: 'good' };
  const broken = silent.find((source) => isBroken(source, inUse, asleep));
  if (broken !== undefined) return { state: 'wrong', why: whyBroken(broken) };
  return { state: 'parked', why: `the car is not in use, and ${first.name} has delivered nothing yet` };
}

/**
 * Sources that must still deliver readings: those with the name of an earlier one, and as many of a kind as delivered
 * before. A configuration may drop sources.
 */
function missingSources(sources: readonly TrialSource[], before: readonly DeliveringSource[]): readonly TrialSource[] {
  return (['frames', 'requests', 'receiver'] as const).flatMap((kind) => {
    const earlier = before.filter((one) => one.kind === kind);
    const own = sources.filter((one) => one.kind === kind);
    const silent = own.filter(({ readings }) => readings === 0);
    const named = silent.filter(({ name }) => earlier.some((one) => one.name === name));
    const isShort = own.length - silent.length < Math.min(earlier.length, own.length);
    return named.length === 0 && isShort ? silent : named;
  });
}

function isBroken({ kind, state, speaks }: TrialSource, inUse: boolean, asleep: boolean): boolean {
  if (kind === 'frames') return state !== 'running' || speaks || inUse;
  // While the unit sleeps, requests pause, and lines of receivers are closed.
  return !asleep && (state !== 'running' || inUse);
}

function whyBroken({ name, state, reason, speaks }: TrialSource): string {
  if (state !== 'running') return `${name} does not run${reason === undefined ? '' : `: ${reason}`}`;
  if (speaks) return `${name} carries data, but no signal of the profile`;
  return `${name} delivers nothing while the car is in use`;
}
