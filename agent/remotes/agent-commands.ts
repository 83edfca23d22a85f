import type { CommandKind } from '../../protocol/schema/remote.ts';
import type { CallbackDesk } from '../callbacks/desk.ts';
import type { MonitorDesk } from '../monitors/desk.ts';
import type { AgentPorts } from '../options.ts';
import type { Repetition } from '../outbox/repetition.ts';
import type { AgentCommand } from './agent-command.ts';
import { resendCommand } from './resend.ts';
import { trustCommand } from './trust.ts';

/** Returns the commands about the agent itself and other parts of the unit (`agentCommands`). */
export function agentCommandsOf(
  { monitors, callbacks }: { readonly monitors: MonitorDesk; readonly callbacks: CallbackDesk },
  repetition: Pick<Repetition, 'ask'>,
  { keys, agentCommands = new Map() }: Pick<AgentPorts, 'keys' | 'agentCommands'>,
  capture?: AgentCommand,
): ReadonlyMap<CommandKind, AgentCommand> {
  return new Map<CommandKind, AgentCommand>([
    ['Monitor', monitors.order],
    ['Callback', callbacks.order],
    ['Resend', resendCommand((numbers) => repetition.ask(numbers))],
    ...(capture === undefined ? [] : ([['Capture', capture]] as const)),
    ...(keys === undefined ? [] : ([['Trust', trustCommand(keys)]] as const)),
    ...agentCommands,
  ]);
}
