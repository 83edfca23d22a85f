import type { CommandKind } from '../../protocol/schema/remote.ts';
import type { CallbackDesk } from '../callbacks/desk.ts';
import type { MonitorDesk } from '../monitors/desk.ts';
import type { TrustKeeper } from '../ports.ts';
import type { AgentCommand } from './agent-command.ts';
import { trustCommand } from './trust.ts';

/** What commands can ask of the agent itself, and of what stands around it (`others`). */
export function agentCommandsOf(
  monitors: MonitorDesk,
  callbacks: CallbackDesk,
  keys: TrustKeeper | undefined,
  others: ReadonlyMap<CommandKind, AgentCommand> | undefined,
): ReadonlyMap<CommandKind, AgentCommand> {
  return new Map<CommandKind, AgentCommand>([
    ['Monitor', monitors.order],
    ['Callback', callbacks.order],
    ...(keys === undefined ? [] : ([['Trust', trustCommand(keys)]] as const)),
    ...(others ?? []),
  ]);
}
