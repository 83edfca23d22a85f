/** Definition of a diagnostic command in a profile, and its messages of ISO 14229-1. */
import { VigieError } from '../../../protocol/errors.ts';
import type { Uds } from '../../../protocol/profile.ts';
import { bytesOf } from '../hex.ts';
import type { DiagnosticStep } from './client.ts';
import type { KeyHook, KeyHooks } from './security.ts';

/** A command in the profile; without `uds` it is not executed by diagnostics. */
export interface UdsCommand {
  readonly uds?: Uds | undefined;
  /** Maximum duration in ms: no step is started after that. */
  readonly within: number;
}

/** inputOutputControlParameter (ISO 14229-1:2020 Annex E). */
const CONTROLS = { resetToDefault: 0x01, freezeCurrentState: 0x02, shortTermAdjustment: 0x03 } as const;
const RETURN_CONTROL = 0x00;

const INPUT_OUTPUT_CONTROL = 0x2f;
const ROUTINE_CONTROL = 0x31;
/** Sub-functions of RoutineControl (ISO 14229-1:2020 §14.2). */
const ROUTINE = { start: 0x01, stop: 0x02, results: 0x03 } as const;

/** A resolved command with its bytes. */
export interface PreparedCommand {
  readonly uds: Uds;
  readonly within: number;
  readonly key?: { readonly hook: KeyHook; readonly level: number; readonly constant: Uint8Array };
  readonly take: DiagnosticStep;
  readonly giveBack?: DiagnosticStep;
  readonly results?: DiagnosticStep & { readonly expected: Uint8Array };
}

export type UdsCommands = Readonly<Record<string, UdsCommand>>;

/**
 * Checks the commands of a profile against the available hooks.
 * @returns the executable commands, and the faults of the others
 */
export function prepareUdsCommands(
  commands: UdsCommands,
  hooks: KeyHooks,
): {
  prepared: ReadonlyMap<string, PreparedCommand>;
  problems: readonly { action: string; message: string }[];
} {
  const prepared = new Map<string, PreparedCommand>();
  const problems: { action: string; message: string }[] = [];
  for (const [action, { uds, within }] of Object.entries(commands)) {
    if (uds === undefined) continue;
    try {
      prepared.set(action, { uds, within, ...prepare(uds, hooks) });
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      problems.push({ action, message: error.message });
    }
  }
  return { prepared, problems };
}

function prepare(
  { service, security, release }: Uds,
  hooks: KeyHooks,
): Pick<PreparedCommand, 'key' | 'take' | 'giveBack' | 'results'> {
  const key = security === undefined ? {} : { key: keyOf(security, hooks) };
  const identifier = [service.identifier >> 8, service.identifier & 0xff];
  if (service.kind === 'io') {
    const head = [INPUT_OUTPUT_CONTROL, ...identifier];
    return {
      ...key,
      take: step([...head, CONTROLS[service.control], ...bytes(service.state, 'state')], 2),
      ...(release ? { giveBack: step([...head, RETURN_CONTROL], 2) } : {}),
    };
  }
  const head = (what: keyof typeof ROUTINE): number[] => [ROUTINE_CONTROL, ROUTINE[what], ...identifier];
  const { results } = service;
  return {
    ...key,
    take: step([...head('start'), ...bytes(service.option, 'option')], 3),
    ...(release ? { giveBack: step(head('stop'), 3) } : {}),
    ...(results === undefined ? {} : { results: { ...step(head('results'), 3), expected: bytes(results, 'results') } }),
  };
}

function keyOf(
  { level, key, constant = '' }: NonNullable<Uds['security']>,
  hooks: KeyHooks,
): PreparedCommand['key'] & object {
  const hook = hooks.get(key);
  if (hook === undefined) {
    const known = [...hooks.keys()].join(', ') || 'none';
    throw new VigieError('configuration.wrong', `nothing computes keys by the name of ${key}; known: ${known}`);
  }
  return { hook, level, constant: bytes(constant, 'constant') };
}

function bytes(text: string, what: string): Uint8Array {
  const read = bytesOf(text);
  if (read === undefined) throw new VigieError('configuration.wrong', `${what} is not pairs of hexadecimal digits`);
  return read;
}

function step(payload: readonly number[], echoed: number): DiagnosticStep {
  return { payload: Uint8Array.from(payload), echoed };
}
