/** Content of `/vigie/v1/commands` for a running car. */

import type { OwnCommands } from '../adapters/http/own-routes.ts';
import type { Agent } from '../agent/agent.ts';
import type { Clock } from '../agent/ports.ts';
import type { ArrivedCommand } from '../agent/remotes/command-intake.ts';
import { holds, interlockStates } from '../agent/remotes/interlocks.ts';
import { encodeBody } from '../protocol/command.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { hex } from '../protocol/hex.ts';
import type { CommandHistory, KindReport, OrderReport } from '../protocol/interface/own/commands.ts';
import { remoteScopeOf } from '../protocol/interface/remotes.ts';
import type { RemoteKind } from '../protocol/remote/kind.ts';
import { findRemoteKind, type RemoteType, remoteKinds } from '../protocol/remote/table.ts';
import type { CommandKind, RemoteReport } from '../protocol/schema/remote.ts';
import type { Vehicle } from './vehicle.ts';

/** Maximum number of commands in the history. */
const REMEMBERED = 20;
/** Name of the key with which the car's own interface signs commands (assembly/car.ts). */
const INTERFACE_KEY = 'interface';

interface OwnCommandsOptions {
  readonly vehicle: Vehicle;
  /** True if the car accepts commands. */
  readonly commands: boolean;
  readonly agent: Pick<Agent, 'status' | 'requests'>;
  readonly clock: Clock;
}

export function ownCommandsOf(options: OwnCommandsOptions): OwnCommands {
  const { agent, clock, commands } = options;
  const history: CommandHistory = [];
  const callers = new Map<string, string>();
  agent.requests.observe({
    arrived: (command) => {
      const by = callers.get(command.id);
      callers.delete(command.id);
      history.unshift(entryOf(command, by));
      history.length = Math.min(history.length, REMEMBERED);
    },
    reported: (report) => note(history, report, Math.round(clock.now())),
  });
  return {
    report: (sees) => ({ kinds: commands ? remoteKinds.flatMap((kind) => reportKind(options, kind, sees)) : [] }),
    history: () => history,
    submit: async ({ type, body }, caller) => {
      const kind = findRemoteKind(type);
      if (kind === undefined) throw new VigieError('input.unknown', `type: is no kind of command: ${type}`);
      const fault = kind.fault?.(body as never);
      if (fault !== undefined) throw new VigieError('input.malformed', fault, { where: kind.member });
      const id = crypto.randomUUID();
      callers.set(id, caller);
      try {
        return await agent.requests.submit({ id, type: kind.type, body, remote: { [kind.member]: body } });
      } finally {
        callers.delete(id);
      }
    },
  };
}

function reportKind(
  { vehicle, agent, clock }: OwnCommandsOptions,
  kind: RemoteKind<RemoteType>,
  sees: (scope: string) => boolean,
): KindReport[] {
  const { commands: rules, sources } = vehicle.profile;
  const fed = new Set(sources.map(({ path }) => path));
  const circumstances = { status: agent.status, now: clock.now(), fed };
  const describe = ([name, body]: readonly [string, object]): OrderReport[] => {
    const actions = kind.asks(body);
    // Kinds without actions are executed by the agent itself.
    if (actions.some((action) => rules[action] === undefined)) return [];
    const found = actions.map((action) => rules[action]).filter((rule) => rule !== undefined);
    const [rule] = found;
    return [
      {
        name,
        body: body as Readonly<Record<string, unknown>>,
        actions: [...actions],
        ...(rule === undefined ? {} : { confirmedBy: rule.confirm.path }),
        already: found.length > 0 && found.every(({ confirm }) => holds(confirm, circumstances)),
        interlocks: actions.flatMap((action) => {
          const requires = rules[action]?.requires;
          const states = interlockStates(action, { ...circumstances, ...defined({ requires }) });
          return [...states].map(({ demand, shown, holds: isHeld }) => ({ demand, shown, holds: isHeld }));
        }),
      },
    ];
  };
  const { bodies, alone } = kind.words;
  const words = Object.entries(bodies);
  const orders = (words.length === 0 && alone !== undefined ? [[kind.words.verb, alone] as const] : words).flatMap(
    describe,
  );
  const scope = remoteScopeOf(kind.type);
  return orders.length === 0 ? [] : [{ type: kind.type, ...(sees(scope) ? {} : { needs: scope }), orders }];
}

/** @param by user who sent it from the page; undefined: another key signed it, or it came through the published API */
function entryOf({ id, kind, body, signer }: ArrivedCommand, by: string | undefined): CommandHistory[number] {
  const origin = by !== undefined ? 'page' : signer === INTERFACE_KEY ? 'interface' : 'broker';
  const order = orderOf(kind, body);
  return {
    remoteActionId: id,
    type: kind,
    ...defined({ order }),
    origin,
    by: by ?? signer,
    states: [],
  };
}

/** Returns the word for a command, such as `lock`; undefined if the command needs parameters. */
function orderOf(kind: CommandKind, body: Uint8Array): string | undefined {
  const { type, words } = findRemoteKind(kind) ?? {};
  if (type === undefined || words === undefined) return undefined;
  const bodies = Object.entries(words.bodies);
  const named = bodies.length === 0 && words.alone !== undefined ? [[words.verb, words.alone] as const] : bodies;
  const given = hex(body);
  return named.find(([, one]) => hex(encodeBody(type, one)) === given)?.[0];
}

/** Adds a state to its command. Puts an unknown command at the start of the history. */
function note(history: CommandHistory, report: RemoteReport, at: number): void {
  const { remoteActionId, type, status, failureCause, detail } = report;
  let command = history.find((one) => one.remoteActionId === remoteActionId);
  if (command === undefined) {
    command = { remoteActionId, type, states: [] };
    history.unshift(command);
    history.length = Math.min(history.length, REMEMBERED);
  }
  command.states.push({
    status,
    at,
    ...defined({ failureCause, detail }),
  });
}
