/** Notifications as they are published: fleet 3.18.0 MonitorEvents and RemoteEvents, user 4.16.0 Message. */
import type { CallbackSide, CallbackType } from '../../protocol/schema/callback.ts';
import type { EventValue, MonitorEvent } from '../../protocol/schema/event.ts';
import type { RemoteReport, RemoteStatus } from '../../protocol/schema/remote.ts';
import { alertResource, collisionResource, extensionResource, type Occasion } from './extensions.ts';
import type { Happened, MonitorHappened, RemoteHappened } from './happened.ts';
import { momentOf } from './happened.ts';
import { rfc3339 } from './published.ts';

type Members = Readonly<Record<string, unknown>>;

/** Names of the car. */
export interface Vehicle {
  readonly vin: string;
  /** Interface 3.19.2 vehicle id. */
  readonly vid: string;
  readonly fleetId: string;
  /** The fleet whose monitor or callback has this id; undefined: it is of no fleet alone, and is told {@link fleetId}. */
  readonly fleetOf?: ((id: string) => string | undefined) | undefined;
}

/** The fleet that a notification names: no fleet hears of another that the car is in. */
export function fleetTold({ fleetId, fleetOf }: Vehicle, id: string): string {
  return fleetOf?.(id) ?? fleetId;
}

/** `key` and `value` of attributes that go into the body. Interface 3.18.0 Attributes. */
export type BodyAttributes = readonly { readonly key: string; readonly value: string }[];

/** One POST of the fleet side: events of one monitor, or of commands of one callback. */
export function fleetNotification(
  vehicle: Vehicle,
  callbackId: string,
  attributes: BodyAttributes,
  happened: readonly Happened[],
): Members {
  const [first] = happened;
  const events = happened.map((one) => fleetEvent(vehicle, one));
  if (first?.type === 'Monitor') return { monitorId: first.event.monitorId, attributes, events };
  return { callbackId, attributes, events };
}

function fleetEvent(vehicle: Vehicle, happened: Happened): Members {
  const { vin } = vehicle;
  const eventDate = rfc3339(momentOf(happened));
  if (happened.type === 'Remote') {
    const { remoteActionId, type } = happened.report;
    return { remoteActionId, vin, eventDate, remoteType: type, eventStatus: eventStatus(happened.report) };
  }
  const fleetId = fleetTold(vehicle, happened.event.monitorId);
  return { fleetId, vin, eventDate, ...monitorContent(happened, vehicle, 'fleet') };
}

/** One Message of the user side. */
export function userMessage(
  vehicle: Vehicle,
  callbackId: string,
  attributes: BodyAttributes,
  happened: Happened,
): Members {
  const date = rfc3339(momentOf(happened));
  const type: CallbackType = happened.type;
  return { callbackId, attributes, type, date, ...userEvent(happened, vehicle) };
}

function userEvent(happened: Happened, vehicle: Vehicle): Members {
  if (happened.type === 'Remote') return { remoteEvent: remoteContent(happened) };
  const { monitorId } = happened.event;
  return { monitorEvent: { monitorId, ...monitorContent(happened, vehicle, 'user') } };
}

function monitorContent({ event }: MonitorHappened, { vin }: Vehicle, side: CallbackSide): Members {
  const occasion: Occasion = { side, vin, at: event.at };
  const { values = [], extensions = [], refresh } = event as MonitorEvent;
  return {
    values: values.map((value) => valueContent(value, occasion)),
    ...(extensions.length === 0 ? {} : { extensions: extensions.map((one) => extensionResource(one, occasion)) }),
    refresh,
  };
}

function valueContent({ data, literal, alerts, collision, previous }: EventValue, occasion: Occasion): Members {
  const before = occasion.side === 'user' && previous !== undefined ? { previous } : {};
  if (alerts !== undefined) {
    const objectValues = alerts.map((alert) => alertResource(alert, occasion));
    return { data, value: { type: 'obj.alert', body: { objectValues } }, ...before };
  }
  if (collision !== undefined) {
    const objectValues = [collisionResource(collision, occasion)];
    return { data, value: { type: 'obj.collision', body: { objectValues } }, ...before };
  }
  return { data, value: { type: 'string', body: { literalValue: literal ?? '' } }, ...before };
}

function remoteContent({ report }: RemoteHappened): Members {
  const { remoteActionId, type } = report;
  return { remoteActionId, remoteType: type, eventStatus: eventStatus(report) };
}

const done: ReadonlySet<RemoteStatus> = new Set(['Success', 'AlreadyDone', 'Failed']);

/** Interface 3.18.0 RemoteEventStatus. */
function eventStatus({ status, failureCause }: RemoteReport): Members {
  const type = done.has(status) ? 'Done' : 'Pending';
  return { type, status, ...(failureCause === undefined ? {} : { failureCause }) };
}
