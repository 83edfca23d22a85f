/** Monitors: rules that the car evaluates. A monitor belongs to a fleet or to one of a user's callbacks. */

import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { dateTime } from '../../../protocol/interface/json/date-time.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import { shownDelivery } from '../../../protocol/schema/callback/delivery.ts';
import { dataOf } from '../../../protocol/schema/monitor/data.ts';
import type { MonitorTrigger } from '../../../protocol/schema/monitor/parameter.ts';
import type { Monitor, MonitorParameter, MonitorStatus } from '../../../protocol/schema/monitor.ts';
import type { Answer } from '../call.ts';
import { callbackAskedFor } from './callbacks.ts';
import { collection } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { belongsTo, madeBefore, ownedId, uuidFor } from './ids.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';
import { checkScopes, deliveryOf, scopesLacking } from './monitor-scopes.ts';

/** `GET …/monitors` */
export function monitors(context: Context): Promise<Answer> {
  const isCallers = ownerFilter(context);
  const items = context.car.monitors.all
    .filter((monitor) => isCallers(monitor) && scopesLacking(context, monitor.monitor).length === 0)
    .map((monitor) => ({ at: monitor.createdAt, id: monitor.monitorId, monitor }))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return collection(context, 'monitors', items, ({ monitor, id }) => {
    return monitorOf(context, monitor, linkTo(context, 'monitors.get', { mid: id }) as ResourceLink);
  });
}

/** `GET …/monitors/{mid}` */
export function monitor(context: Context): Answer {
  return found(monitorOf(context, monitorAskedFor(context), selfOf(context)));
}

/** `POST …/monitors`: creates a monitor, which runs immediately. */
export async function createMonitor(asked: Context): Promise<Answer> {
  const context = await contextOfVehicle(asked);
  const { car, owner, side } = context;
  const input = inputOf(context);
  checkScopes(context, input);
  car.callbacks.checkMonitor(side, input);
  const uuid = uuidFor(context);
  const ids = car.monitors.all.map(({ monitorId }) => monitorId);
  const before = car.monitors.get(madeBefore(context, uuid, ids) ?? '');
  if (before === undefined && side === 'user') checkRoom(context);
  // If the monitor exists, set its current status again: that changes nothing, but waits until it is on disk.
  const monitor = await (before === undefined
    ? car.monitors.put(ownedId(owner, uuid), input)
    : car.monitors.setStatus(before.monitorId, before.status));
  return accepted(context, monitor);
}

/** Maximum number of monitors per user and vehicle: interface 4.17.2, "Callback, Monitor & Remote management". */
const USER_MONITORS = 5;

/** @throws VigieError `input.malformed` if the user already has the maximum number of monitors */
function checkRoom({ car, owner }: Context): void {
  // Does not count monitors that a command created without a callback.
  const own = car.monitors.all.filter(({ monitor, monitorId }) => {
    return deliveryOf(monitor).subscribeParam?.callbackId !== undefined && belongsTo(monitorId, owner);
  });
  if (own.length < USER_MONITORS) return;
  const text = `a user has at most ${USER_MONITORS} monitors of a vehicle: delete one of them first`;
  throw new VigieError('input.malformed', text);
}

/** `PUT …/monitors/{mid}` */
export async function replaceMonitor(asked: Context): Promise<Answer> {
  const { monitorId } = monitorAskedFor(asked);
  const context = await contextOfVehicle(asked);
  const { car, side } = context;
  const input = inputOf(context);
  checkScopes(context, input);
  car.callbacks.checkMonitor(side, input);
  return accepted(context, await car.monitors.put(monitorId, input));
}

/** `PUT …/monitors/{mid}/status` */
export async function setMonitorStatus(context: Context): Promise<Answer> {
  const { monitorId } = monitorAskedFor(context);
  const { status } = context.call.body as { status: MonitorStatus };
  return accepted(context, await context.car.monitors.setStatus(monitorId, status));
}

/** `DELETE …/monitors/{mid}` */
export async function removeMonitor(context: Context): Promise<Answer> {
  const { monitorId } = monitorAskedFor(context);
  if (!(await context.car.monitors.remove(monitorId))) throw unknown('monitor', monitorId);
  return { status: 204 };
}

/** Returns the monitor in the path. @throws VigieError `request.unknown`, also if the caller may not see it */
function monitorAskedFor(context: Context): Monitor {
  const id = context.call.path['mid'] ?? '';
  const monitor = context.car.monitors.get(id);
  if (monitor === undefined || !ownerFilter(context)(monitor)) throw unknown('monitor', id);
  if (scopesLacking(context, monitor.monitor).length > 0) throw unknown('monitor', id);
  return monitor;
}

/**
 * Selects the monitors of the requester: a user's monitors belong to the callback in the path; a fleet's have their own
 * webhook. Monitors that a command created without either publish only over MQTT and are not listed here.
 */
function ownerFilter(context: Context): (monitor: Monitor) => boolean {
  const { side, owner } = context;
  if (side === 'user') {
    const { callbackId } = callbackAskedFor(context);
    return ({ monitor }) => deliveryOf(monitor).subscribeParam?.callbackId === callbackId;
  }
  return ({ monitorId, monitor }) =>
    deliveryOf(monitor).subscribeParam?.callback !== undefined && belongsTo(monitorId, owner);
}

/**
 * Returns the request, restricted to the vehicle `vid` of its body or header, otherwise to the vehicle of its path.
 * @throws VigieError `input.unknown` for a vehicle outside the fleet
 */
async function contextOfVehicle(context: Context): Promise<Context> {
  const { call, served } = context;
  let { car } = context;
  for (const [vid, where] of [
    [(call.body as Record<string, unknown>)['vid'], 'vid'],
    [call.headers['vid'], 'header vid'],
  ] as const) {
    if (vid === undefined || vid === null || vid === car.vehicle.id) continue;
    const named = car === context.car && typeof vid === 'string' ? await served.byId(vid) : undefined;
    if (named === undefined) {
      throw new VigieError('input.unknown', `must be the id of a vehicle of the fleet, is ${JSON.stringify(vid)}`, {
        where,
      });
    }
    car = named;
  }
  return { ...context, car };
}

/**
 * Returns the monitor in the body in its raw form, with its callback. Removes `delivery`, which is part of the stored
 * form and not of the interface: a request could use it to name another owner's callback.
 */
function inputOf(context: Context): unknown {
  const { call, side } = context;
  const { vid: _, delivery: ___, subscribeParam, ...parameter } = call.body as Record<string, unknown>;
  const { callbackId: __, ...subscribe } = (subscribeParam ?? {}) as Record<string, unknown>;
  if (side === 'fleet') return { ...parameter, subscribeParam: subscribe };
  const { callbackId, subscribe: taking } = callbackAskedFor(context);
  if (taking.type?.includes('Monitor') === false) {
    throw new VigieError('input.malformed', `the callback takes no monitors; its type is ${taking.type.join(', ')}`);
  }
  return { ...parameter, subscribeParam: { ...subscribe, callbackId } };
}

/** Monitor (interface 3.19.2 and 4.17.2). */
function monitorOf(context: Context, monitor: Monitor, self: ResourceLink): Members {
  const { monitorId, status, createdAt, updatedAt } = monitor;
  return {
    _links: linksOf({ self, fleet: context.fleet && linkTo(context, 'fleets.get') }),
    monitorId,
    monitor: shown(monitor.monitor),
    status,
    createdAt: dateTime(createdAt),
    updatedAt: dateTime(updatedAt),
  };
}

/** Returns the monitor in its raw form. */
function shown(parameter: MonitorParameter): Members {
  const { delivery: _, subscribeParam, triggerParam, ...rest } = parameter;
  const { subscribeParam: delivered, attributes } = shownDelivery(parameter.delivery);
  const subscribe = { ...subscribeParam, ...delivered };
  const triggers = triggerParam.triggers.map((trigger) =>
    trigger.data === undefined ? trigger : { ...trigger, data: withName(trigger.data) },
  );
  return {
    ...rest,
    triggerParam: { ...triggerParam, triggers },
    ...(subscribeParam === undefined && delivered === undefined ? {} : { subscribeParam: subscribe }),
    ...defined({ attributes }),
  };
}

function withName({ signal, ...trigger }: NonNullable<MonitorTrigger['data']>): Members {
  return { ...trigger, data: dataOf({ data: trigger.data, ...defined({ signal }) }) };
}

/** MonitorRef (interface 3.19.2 and 4.17.2). */
function accepted(context: Context, { monitorId, status, createdAt, updatedAt }: Monitor): Answer {
  return {
    status: 202,
    body: {
      _links: linksOf({
        fleet: context.fleet && linkTo(context, 'fleets.get'),
        monitor: linkTo(context, 'monitors.get', { mid: monitorId }),
      }),
      monitorId,
      status,
      createdAt: dateTime(createdAt),
      updatedAt: dateTime(updatedAt),
    },
  };
}
