/**
 * Starts of the agent, and whether it keeps crashing. Times are those of the machine since its boot, which no step of
 * the clock and no flat battery confuses: what ended with the machine itself, by a power cut, is not a crash.
 */

/** One start of the agent. */
export interface AgentRun {
  /** Which boot of the machine it was in. */
  readonly boot: string;
  /** Milliseconds since that boot. */
  readonly at: number;
  /** It ended on request. */
  readonly ended?: true;
}

/** Number of crashes … */
export const CRASHES = 3;
/** … within this time, ms, before the agent starts in its minimal mode. */
export const WITHIN = 15 * 60_000;
/** The agent stays in that mode for this time, ms, and then tries again. */
export const STAY = 15 * 60_000;
/** Runs that are remembered. */
const REMEMBERED = 16;

/** Crashes that count at a start at this time. */
export function crashes(runs: readonly AgentRun[], { boot, at }: Pick<AgentRun, 'boot' | 'at'>): number {
  return runs.filter((run) => run.ended !== true && run.boot === boot && run.at <= at && at - run.at < WITHIN).length;
}

/** Wait before a start after this many crashes, ms: 1 s, then 4 s. The minimal mode needs no wait. */
export function backOff(count: number): number {
  return count >= CRASHES ? 0 : count * count * 1000;
}

export function begun(runs: readonly AgentRun[], run: AgentRun): readonly AgentRun[] {
  return [...runs, run].slice(-REMEMBERED);
}

/** The latest run ends as it should. */
export function ended(runs: readonly AgentRun[]): readonly AgentRun[] {
  const last = runs.at(-1);
  return last === undefined ? runs : [...runs.slice(0, -1), { ...last, ended: true }];
}

/** `data`, when it is a list of runs. */
export function readRuns(data: unknown): readonly AgentRun[] | undefined {
  if (!Array.isArray(data)) return undefined;
  const sound = data.every((run: unknown) => {
    const { boot, at } = (run ?? {}) as Partial<AgentRun>;
    return typeof boot === 'string' && typeof at === 'number' && Number.isFinite(at);
  });
  return sound ? (data as readonly AgentRun[]) : undefined;
}
