/** Callbacks: addresses that receive events and the states of commands. */
import type { Members } from '../../../protocol/interface/json/writer.ts';
import { type Callback, type CallbackStatus, shownSubscribe } from '../../../protocol/schema/callback.ts';
import type { Answer } from '../call.ts';
import { collection } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { belongsTo, madeBefore, ownedId, uuidFor } from './ids.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';
import { checkMonitorsOf } from './monitor-scopes.ts';

/** `GET …/callbacks`: lists callbacks that accept any of `types`. */
export function callbacks(context: Context): Promise<Answer> {
  const types = context.call.query['types'] as readonly string[] | undefined;
  const items = context.car.callbacks
    .list(context.side)
    .filter((one) => isCallers(context, one) && (types === undefined || takes(one, types)))
    .map((callback) => ({ at: callback.createdAt, id: callback.callbackId, callback }))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return collection(context, 'callbacks', items, ({ callback, id }) => {
    return callbackOf(context, callback, linkTo(context, 'callbacks.get', { cbid: id }) as ResourceLink);
  });
}

/** `GET …/callbacks/{cbid}` */
export function callback(context: Context): Answer {
  return found(callbackOf(context, callbackAskedFor(context), selfOf(context)));
}

/** `POST …/callbacks`: creates a callback, which is active immediately. */
export async function createCallback(context: Context): Promise<Answer> {
  const { car, call, side, owner } = context;
  const uuid = uuidFor(context);
  const before = car.callbacks.get(madeBefore(context, uuid, idsOf(car.callbacks.list(side))) ?? '');
  // If the callback exists, set its current status again: that changes nothing, but waits until it is on disk.
  const callback = await (before === undefined
    ? car.callbacks.put(side, ownedId(owner, uuid), call.body)
    : car.callbacks.setStatus(before.callbackId, before.status));
  return { status: 200, body: referenceTo(context, callback) };
}

/** `PUT …/callbacks/{cbid}` */
export async function replaceCallback(context: Context): Promise<Answer> {
  const { callbackId } = callbackAskedFor(context);
  const { car, call, side } = context;
  checkMonitorsOf(context, callbackId);
  return { status: 202, body: referenceTo(context, await car.callbacks.put(side, callbackId, call.body)) };
}

/** `PUT …/callbacks/{cbid}/status` */
export async function setCallbackStatus(context: Context): Promise<Answer> {
  const { callbackId } = callbackAskedFor(context);
  const { status } = context.call.body as { status: CallbackStatus };
  return { status: 202, body: referenceTo(context, await context.car.callbacks.setStatus(callbackId, status)) };
}

/** `DELETE …/callbacks/{cbid}` */
export async function removeCallback(context: Context): Promise<Answer> {
  const { callbackId } = callbackAskedFor(context);
  if (!(await context.car.callbacks.remove(callbackId))) throw unknown('callback', callbackId);
  return { status: 204 };
}

/** Returns the callback in the path. @throws VigieError `request.unknown` if there is none or another owner has it */
export function callbackAskedFor(context: Context): Callback {
  const id = context.call.path['cbid'] ?? '';
  const callback = context.car.callbacks.get(id);
  if (callback === undefined || !isCallers(context, callback)) throw unknown('callback', id);
  return callback;
}

function idsOf(callbacks: readonly Callback[]): string[] {
  return callbacks.map(({ callbackId }) => callbackId);
}

function isCallers({ side, owner }: Context, callback: Callback): boolean {
  return callback.side === side && belongsTo(callback.callbackId, owner);
}

/** Fleet side: `types` are kinds of remotes. User side: `Remote` or `Monitor`; without a type, both are accepted. */
function takes({ side, subscribe }: Callback, types: readonly string[]): boolean {
  const taken: readonly string[] | undefined = side === 'fleet' ? subscribe.remoteTypes : subscribe.type;
  return taken === undefined || taken.some((type) => types.includes(type));
}

/** RemoteCallback (interface 3.19.2) or UserCallback (4.17.2). At a hub, links to resources of a car are templates. */
function callbackOf(context: Context, { callbackId, subscribe, status }: Callback, self: ResourceLink): Members {
  const cbid = { cbid: callbackId };
  const shown = shownSubscribe(subscribe);
  const { label } = shown;
  const open = context.car.vehicle.id === '' ? [context.side === 'fleet' ? 'vid' : 'id'] : [];
  return {
    _links: linksOf({
      self,
      ...(context.side === 'fleet'
        ? { fleet: linkTo(context, 'fleets.get') }
        : { monitors: linkTo(context, 'monitors.list', cbid, open) }),
      remotes: linkTo(context, 'remotes.list', cbid, open),
    }),
    id: callbackId,
    ...(context.side === 'user' && label !== undefined ? { label } : {}),
    subscribe: shown,
    status,
  };
}

/** CallbackRef (interface 3.19.2 and 4.17.2). */
function referenceTo(context: Context, { callbackId, status }: Callback): Members {
  return {
    _links: linksOf({
      fleet: context.fleet && linkTo(context, 'fleets.get'),
      callback: linkTo(context, 'callbacks.get', { cbid: callbackId }),
    }),
    callbackId,
    status,
  };
}
