/**
 * Records starts of the agent and detects repeated crashes. Times count from the machine's boot: clock steps and a flat
 * battery do not affect them. A run that ended together with the machine, in a power cut, is not a crash.
 */

/** One start of the agent. */
export interface AgentRun {
  /** Boot of the machine in which it started. */
  readonly boot: string;
  /** Milliseconds since that boot. */
  readonly at: number;
  /** Set if it ended on request. */
  readonly ended?: true;
}

/** Number of crashes after which the agent starts in its minimal mode. */
export const CRASHES = 3;
/** Period in ms in which these crashes must occur. */
export const WITHIN = 15 * 60_000;
/** Time in ms for which the agent stays in minimal mode before it tries a normal start. */
export const STAY = 15 * 60_000;
/** Number of runs that are remembered. */
const REMEMBERED = 16;

/** Returns the number of recent crashes, for a start at this time. */
export function crashes(runs: readonly AgentRun[], { boot, at }: Pick<AgentRun, 'boot' | 'at'>): number {
  return runs.filter((run) => run.ended !== true && run.boot === boot && run.at <= at && at - run.at < WITHIN).length;
}

/** Returns the delay in ms before a start after this many crashes: 1 s, then 4 s. The minimal mode needs no delay. */
export function backOff(count: number): number {
  return count >= CRASHES ? 0 : count * count * 1000;
}

export function begun(runs: readonly AgentRun[], run: AgentRun): readonly AgentRun[] {
  return [...runs, run].slice(-REMEMBERED);
}

/** Marks the latest run as ended on request. */
export function ended(runs: readonly AgentRun[]): readonly AgentRun[] {
  const last = runs.at(-1);
  return last === undefined ? runs : [...runs.slice(0, -1), { ...last, ended: true }];
}

/** Returns `data` if it is a list of runs, or undefined. */
export function readRuns(data: unknown): readonly AgentRun[] | undefined {
  if (!Array.isArray(data)) return undefined;
  const sound = data.every((run: unknown) => {
    const { boot, at } = (run ?? {}) as Partial<AgentRun>;
    return typeof boot === 'string' && typeof at === 'number' && Number.isFinite(at);
  });
  return sound ? (data as readonly AgentRun[]) : undefined;
}
