/** Commands to cars through the hub, and their audit trail. */

import type { Call, Handler, Handlers } from '../../adapters/http/call.ts';
import { found, unknown } from '../../adapters/http/resources/context.ts';
import { uuidFor } from '../../adapters/http/resources/ids.ts';
import { VigieError } from '../../protocol/errors.ts';
import { declaredMembers } from '../../protocol/interface/bodies.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { askedRemote, remoteLack } from '../../protocol/interface/remotes.ts';
import { seenCommand, seesOf } from '../../protocol/interface/visible-members.ts';
import type { CommandOrder } from '../core/commands.ts';
import type { CommandStore, KeptCommand } from '../core/ports.ts';

interface CommandDesk {
  readonly store: CommandStore;
  submit(order: CommandOrder): Promise<KeptCommand>;
  /** Returns a random UUID in lower case. */
  newId(): string;
}

/** Returns the handlers of the operations `hub.remotes.*`. */
export function commandHandlers(desk: CommandDesk): Handlers {
  return {
    'hub.remotes.create': create(desk),
    'hub.remotes.list': list(desk),
    'hub.remotes.get': get(desk),
  };
}

/** `POST /vigie/v1/vehicles/{vin}/remotes`. The body has the form of the fleet side. */
function create(desk: CommandDesk): Handler {
  return async (call) => {
    const { type, body } = askedRemote('fleet', declaredMembers(call.operation, call.body));
    const lack = remoteLack({ type, body }, call.caller.scopes);
    if (lack !== undefined) throw new VigieError('request.forbidden', lack);
    const id = uuidFor({ call, served: desk });
    const kept = await desk.submit({ id, vin: vinOf(call), type, body, caller: call.caller.name });
    return { status: 202, body: written(call, kept) };
  };
}

/** `GET /vigie/v1/vehicles/{vin}/remotes`: newest first, with a link to older ones. */
function list({ store }: CommandDesk): Handler {
  return async (call) => {
    const vin = vinOf(call);
    const commands = await store.commands(vin, call.query['before'] as string | undefined);
    const oldest = commands.at(-1);
    const next = oldest === undefined ? {} : { next: { href: `${addressOf(call)}?before=${oldest.id}` } };
    return found({
      _links: { self: { href: `${call.base}${call.self}` }, ...next },
      vin,
      remotes: commands.flatMap((one) => seen(call, one) ?? []).map((one) => written(call, one)),
    });
  };
}

/** `GET /vigie/v1/vehicles/{vin}/remotes/{rid}`: one command. */
function get({ store }: CommandDesk): Handler {
  return async (call) => {
    const id = call.path['rid'] ?? '';
    const kept = await store.command(vinOf(call), id);
    const shown = kept && seen(call, kept);
    if (shown === undefined) throw unknown('remote', id);
    return found(written(call, shown));
  };
}

function seen({ caller }: Call, command: KeptCommand): KeptCommand | undefined {
  return caller.scopes === undefined ? command : seenCommand(seesOf(caller), command);
}

function vinOf({ path }: Call): string {
  return path['vin'] ?? '';
}

function addressOf(call: Call): string {
  return `${call.base}/vigie/v1/vehicles/${encodeURIComponent(vinOf(call))}/remotes`;
}

/** Converts a command for the audit trail. `status` is the last state from the car, or `Requested` before that. */
export function written(call: Call, command: KeptCommand): object {
  const { id, type, body, caller, requested, expires, key, counter, states } = command;
  const last = states.at(-1);
  const shown = states.map(({ at, ...state }) => ({ ...state, at: dateTime(at) }));
  return {
    _links: { self: { href: `${addressOf(call)}/${id}` } },
    remoteActionId: id,
    type,
    body,
    requestedBy: caller,
    requestedAt: dateTime(requested),
    expiresAt: dateTime(expires),
    key,
    counter,
    status: last?.status ?? 'Requested',
    ...(last?.failureCause === undefined ? {} : { failureCause: last.failureCause }),
    states: shown,
  };
}
