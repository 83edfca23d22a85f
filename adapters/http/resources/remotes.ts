/** Remotes: commands to the car, with a callback for their states. */

import type { RemoteAction } from '../../../agent/remotes/requests.ts';
import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { declaredMembers } from '../../../protocol/interface/bodies.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import { askedRemote, remoteLack, remoteScopeOf } from '../../../protocol/interface/remotes.ts';
import { type RemoteType, remoteKindOf } from '../../../protocol/remote/table.ts';
import type { Callback } from '../../../protocol/schema/callback.ts';
import type { Answer } from '../call.ts';
import { callbackAskedFor } from './callbacks.ts';
import { collection } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { madeBefore, uuidFor } from './ids.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';

/** `GET …/callbacks/{cbid}/remotes`: lists remotes of the kinds that the caller may send. */
export function remotes(context: Context): Promise<Answer> {
  const { callbackId } = callbackAskedFor(context);
  const items = context.car.remotes
    .all(callbackId)
    .filter((action) => isSeen(context, action))
    .map((action) => ({ at: action.createdAt, id: action.remoteActionId, action }))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return collection(context, 'remoteActions', items, ({ action, id }) => {
    return remoteOf(context, { ...action, callbackId }, linkTo(context, 'remotes.get', { rid: id }) as ResourceLink);
  });
}

/** `GET …/callbacks/{cbid}/remotes/{rid}` */
export function remote(context: Context): Answer {
  const { callbackId } = callbackAskedFor(context);
  const id = context.call.path['rid'] ?? '';
  const action = context.car.remotes.get(id);
  if (action === undefined || action.callbackId !== callbackId || !isSeen(context, action)) throw unknown('remote', id);
  return found(remoteOf(context, { ...action, callbackId }, selfOf(context)));
}

/**
 * `POST …/callbacks/{cbid}/remotes`. Rejects with `input.malformed` for a body without an executable command, and with
 * `request.forbidden` if the caller lacks the scope of the kind.
 */
export async function sendRemote(context: Context): Promise<Answer> {
  const callback = callbackAskedFor(context);
  const { callbackId } = callback;
  const sent = declaredMembers(context.call.operation, context.call.body) as Readonly<Record<string, unknown>>;
  const { type, body } = askedRemote(context.side, sent);
  const lack = remoteLack({ type, body }, context.call.caller.scopes);
  if (lack !== undefined) throw new VigieError('request.forbidden', lack);
  checkKind(callback, type);
  const { remotes: requests } = context.car;
  const uuid = uuidFor(context);
  const ids = requests.all(callbackId).map(({ remoteActionId: id }) => id);
  madeBefore(context, uuid, ids);
  const again = context.call.once === undefined ? {} : { id: uuid };
  const { remoteActionId } = await requests.submit({ callbackId, type, body, remote: sent, ...again });
  return {
    status: 202,
    body: {
      _links: linksOf({
        ...surroundings(context, callbackId),
        remote: linkTo(context, 'remotes.get', { rid: remoteActionId }),
      }),
      remoteActionId,
      type,
    },
  };
}

/** @throws VigieError `input.malformed` if the callback rejects this kind (3.19.2 remoteTypes, 4.17.2 type) */
function checkKind({ side, subscribe }: Callback, type: RemoteType): void {
  const [taken, kind]: [readonly string[] | undefined, string] =
    side === 'fleet' ? [subscribe.remoteTypes, type] : [subscribe.type, 'Remote'];
  if (taken === undefined || taken.includes(kind)) return;
  const where = remoteKindOf(type).member;
  throw new VigieError('input.malformed', `needs a callback that takes ${kind}; this one takes ${taken.join(', ')}`, {
    where,
  });
}

/** RemoteAction (interface 3.19.2 and 4.17.2). */
function remoteOf(
  context: Context,
  action: RemoteAction & { readonly callbackId: string },
  self: ResourceLink,
): Members {
  const { remoteActionId, callbackId, type, remote, status, failureCause } = action;
  return {
    _links: linksOf({ self, ...surroundings(context, callbackId) }),
    remoteActionId,
    type,
    remote,
    status,
    ...defined({ failureCause }),
  };
}

function surroundings(context: Context, cbid: string): Record<string, ResourceLink | undefined> {
  return {
    fleet: context.fleet && linkTo(context, 'fleets.get'),
    callback: linkTo(context, 'callbacks.get', { cbid }),
  };
}

function isSeen({ call: { caller } }: Context, { type }: RemoteAction): boolean {
  return caller.scopes?.has(remoteScopeOf(type)) ?? true;
}
