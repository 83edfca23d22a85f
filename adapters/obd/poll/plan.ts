import type { WantedSignal } from '../../../agent/ports.ts';
import { hexByte } from '../../../protocol/hex.ts';
import { commandName } from '../addressing.ts';
import { includesYear } from '../model-years.ts';
import type { ObdCommand, ObdSignal, SignalSet } from '../signal-set.ts';
import { type ParameterReader, sampleReader, type TextReader, textReader } from './readers.ts';
import type { PollPriority, PollSettings } from './settings.ts';

/** Message name with which a profile refers to a signal of any command: `OBD.VehicleSpeed`. */
const obdMessage = 'OBD';

export type PlannedSignal = {
  /** Index in the list of wanted signals. */
  readonly index: number;
} & ({ readonly read: ParameterReader } | { readonly readText: TextReader });

/** One command to request, and the wanted signals in its answers. */
export interface PlannedCommand {
  readonly command: ObdCommand;
  readonly signals: readonly PlannedSignal[];
  /** Time in ms between two requests. */
  readonly interval: number;
  readonly priority: PollPriority;
}

interface PollPlan {
  readonly commands: readonly PlannedCommand[];
  /** Wanted signals that no set contains with the wanted type: number or text. */
  readonly missing: readonly WantedSignal[];
}

interface Draft {
  readonly signals: PlannedSignal[];
  interval: number;
  priority: PollPriority;
}

const ORDER: readonly PollPriority[] = ['high', 'normal', 'low'];

/**
 * Returns the commands to request for the wanted signals. Later sets take precedence; commands for other model years
 * are omitted. Debug commands are used only if the profile names the command itself. If several commands contain the
 * signal, prefers the one without a filter of years, then the one for the latest years.
 */
export function planPolls(
  wanted: readonly WantedSignal[],
  sets: readonly SignalSet[],
  settings: PollSettings,
): PollPlan {
  const commands = [...sets].reverse().flatMap((set) => set.commands.filter((command) => applies(command, settings)));
  const drafts = new Map<ObdCommand, Draft>();
  const missing: WantedSignal[] = [];
  for (const [index, want] of wanted.entries()) {
    const found = find(commands, want, settings);
    const planned = found === undefined ? undefined : plannedSignal(index, want, found);
    if (found === undefined || planned === undefined) {
      missing.push(want);
      continue;
    }
    const rule = settings.rules[`${want.message}.${want.signal}`] ?? {};
    const interval = rule.interval ?? intervalOf(found.command, settings);
    const priority = rule.priority ?? 'normal';
    const draft = drafts.get(found.command);
    if (draft === undefined) drafts.set(found.command, { signals: [planned], interval, priority });
    else {
      draft.signals.push(planned);
      draft.interval = Math.min(draft.interval, interval);
      if (ORDER.indexOf(priority) < ORDER.indexOf(draft.priority)) draft.priority = priority;
    }
  }
  return { commands: [...drafts].map(([command, draft]) => ({ command, ...draft })), missing };
}

function plannedSignal(index: number, want: WantedSignal, { signal, command }: Found): PlannedSignal | undefined {
  if (want.text === true) {
    const readText = textReader(signal);
    return readText === undefined ? undefined : { index, readText };
  }
  const read = sampleReader(signal, command);
  return read === undefined ? undefined : { index, read };
}

function applies({ years }: ObdCommand, { modelYear }: PollSettings): boolean {
  return years === undefined || modelYear === undefined || includesYear(years, modelYear);
}

interface Found {
  readonly command: ObdCommand;
  readonly signal: ObdSignal;
}

function find(
  commands: readonly ObdCommand[],
  { message, signal: id }: WantedSignal,
  settings: PollSettings,
): Found | undefined {
  const any = message === obdMessage;
  const name = any ? undefined : commandName(message);
  if (!any && name === undefined) return undefined;
  let best: Found | undefined;
  for (const command of commands) {
    if (any ? isDebug(command, settings) : !isNamed(command, message, name?.request)) continue;
    const signal = command.signals.find((candidate) => candidate.id === id);
    if (signal !== undefined && (best === undefined || latest(command) > latest(best.command)))
      best = { command, signal };
  }
  return best;
}

function isNamed(command: ObdCommand, message: string, request: string | undefined): boolean {
  return command.id === message || `${hexByte(command.service)}${command.parameter}` === request;
}

function isDebug({ debug, debugYears }: ObdCommand, { modelYear }: PollSettings): boolean {
  return debug || (debugYears !== undefined && modelYear !== undefined && includesYear(debugYears, modelYear));
}

/** Returns the latest model year of a command; infinite without a filter. */
function latest({ years }: ObdCommand): number {
  if (years === undefined) return Number.POSITIVE_INFINITY;
  if (years.from !== undefined && (years.to === undefined || years.to < years.from)) return Number.MAX_SAFE_INTEGER;
  return Math.max(years.to ?? 0, ...(years.years ?? []));
}

function intervalOf({ period }: ObdCommand, { interval, shortest }: PollSettings): number {
  return period === undefined || period <= 0 ? interval : Math.max(shortest, period * 1000);
}
