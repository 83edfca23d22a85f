/** State of a running monitor: its initial state, its persisted form, and its restoration. */
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { CompiledMonitor, CompiledTrigger } from '../../protocol/schema/monitor/compile.ts';
import { FALSE, type Truth, UNKNOWN } from '../../protocol/schema/monitor/expression.ts';
import type { RunningMonitor, RunningTrigger, SourceName, TriggerSource } from './running.ts';

export interface KeptTrigger {
  readonly main: Truth;
  readonly truth: Truth;
  readonly used: Truth;
  readonly from?: string;
  /** End of its wait, UTC ms. */
  readonly due?: number;
}

export interface KeptMonitor {
  readonly satisfied: boolean;
  readonly collision?: string;
  /** Time at which its event is sent again, UTC ms. */
  readonly due?: number;
  readonly triggers: readonly KeptTrigger[];
}

/** Returns the initial or the restored state of a monitor. `watch` subscribes a trigger to its source. */
export function monitorFrom(
  id: string,
  order: number,
  compiled: CompiledMonitor,
  kept: KeptMonitor | undefined,
  watch: (name: SourceName, trigger: RunningTrigger) => TriggerSource,
): RunningMonitor {
  const monitor: RunningMonitor = {
    kind: 'refresh',
    id,
    order,
    compiled,
    triggers: [],
    truths: [],
    satisfied: kept?.satisfied ?? false,
    collision: kept?.collision,
    touched: false,
    due: 0,
    place: -1,
  };
  for (const [bit, trigger] of compiled.triggers.entries()) {
    const running = triggerFrom(monitor, trigger, bit, kept?.triggers[bit]);
    running.source = watch(sourceOf(trigger), running);
    monitor.triggers.push(running);
    monitor.truths.push(running.truth);
  }
  return monitor;
}

type Unwatching = RunningTrigger & { source: TriggerSource; boundary: RunningTrigger['boundary'] };

function triggerFrom(
  monitor: RunningMonitor,
  compiled: CompiledTrigger,
  bit: number,
  kept: KeptTrigger | undefined,
): Unwatching {
  const trigger = {
    kind: 'wait',
    monitor,
    bit,
    compiled,
    main: kept?.main ?? UNKNOWN,
    ready: false,
    from: kept?.from,
    used: kept?.used ?? UNKNOWN,
    truth: kept?.truth ?? FALSE,
    due: 0,
    place: -1,
  } as Unwatching;
  if (compiled.condition.kind === 'time') trigger.boundary = { kind: 'boundary', trigger, due: 0, place: -1 };
  return trigger;
}

/** Returns the source of a trigger. */
function sourceOf({ condition }: CompiledTrigger): SourceName {
  return condition.kind === 'data' ? condition.data : condition.kind === 'zone' ? 'position' : 'used';
}

/** Returns the persisted form, for {@link readKept}. */
export function kept(monitor: RunningMonitor): KeptMonitor {
  const { satisfied, collision, place, due, triggers } = monitor;
  return {
    satisfied,
    ...defined({ collision }),
    ...(place < 0 ? {} : { due }),
    triggers: triggers.map(keptTrigger),
  };
}

function keptTrigger({ main, truth, used, from, place, due }: RunningTrigger): KeptTrigger {
  return {
    main,
    truth,
    used,
    ...defined({ from }),
    ...(place < 0 ? {} : { due }),
  };
}

/** Validates a persisted state. @throws VigieError `input.malformed` if it is not one with this many triggers */
export function readKept(state: unknown, triggers: number): KeptMonitor {
  const found = state as Partial<KeptMonitor> | undefined;
  if (!Array.isArray(found?.triggers) || found.triggers.length !== triggers || typeof found.satisfied !== 'boolean') {
    throw new VigieError('input.malformed', 'the stored value is not the state of a monitor');
  }
  for (const { main, truth, used } of found.triggers as readonly KeptTrigger[]) {
    if ([main, truth, used].every((value) => Number.isInteger(value) && value >= 0 && value <= UNKNOWN)) continue;
    throw new VigieError('input.malformed', 'the stored value is not the state of a trigger');
  }
  return found as KeptMonitor;
}
