/** Notifications as published: MonitorEvents and RemoteEvents (fleet 3.18.0), Message (user 4.16.0). */

import {
  type MonitorNotification,
  type Notification,
  type RemoteNotification,
  timeOf,
} from '../../agent/callbacks/notification.ts';
import { defined } from '../../protocol/defined.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { alertJson, collisionJson } from '../../protocol/interface/json/records.ts';
import type { Viewer } from '../../protocol/interface/json/viewer.ts';
import type { Members } from '../../protocol/interface/json/writer.ts';
import type { CallbackSide, CallbackType } from '../../protocol/schema/callback.ts';
import type { EventValue } from '../../protocol/schema/event.ts';
import { dataOf } from '../../protocol/schema/monitor/data.ts';
import { finalStatuses, type RemoteReport } from '../../protocol/schema/remote.ts';
import { extensionJson } from './extensions.ts';

/** The names by which notifications identify a car. */
export interface NamedVehicle {
  readonly vin: string;
  readonly motorization: Viewer['vehicle']['motorization'];
  /** The vehicle id of interface 3.19.2. */
  readonly vid: string;
  readonly fleetId: string;
  /** Returns the fleet that owns the monitor or callback. If it returns undefined, {@link fleetId} is sent. */
  readonly fleetOf?: ((id: string) => string | undefined) | undefined;
}

/** Returns the fleet to name in a notification: a fleet must not learn in which other fleets the car is. */
export function namedFleet({ fleetId, fleetOf }: NamedVehicle, id: string): string {
  return fleetOf?.(id) ?? fleetId;
}

/** `key` and `value` of the attributes in the body (interface 3.18.0 Attributes). */
export type BodyAttributes = readonly { readonly key: string; readonly value: string }[];

/** Returns the body of one POST of the fleet side: events of one monitor, or of the commands of one callback. */
export function fleetNotification(
  vehicleOf: (notification: Notification) => NamedVehicle,
  callbackId: string,
  attributes: BodyAttributes,
  notifications: readonly Notification[],
): Members {
  const [first] = notifications;
  const events = notifications.map((one) => fleetEvent(vehicleOf(one), one));
  if (first?.type === 'Monitor') return { monitorId: first.event.monitorId, attributes, events };
  return { callbackId, attributes, events };
}

function fleetEvent(vehicle: NamedVehicle, notification: Notification): Members {
  const { vin } = vehicle;
  const eventDate = dateTime(timeOf(notification));
  if (notification.type === 'Remote') {
    const { remoteActionId, type } = notification.report;
    return { remoteActionId, vin, eventDate, remoteType: type, eventStatus: eventStatus(notification.report) };
  }
  const fleetId = namedFleet(vehicle, notification.event.monitorId);
  return { fleetId, vin, eventDate, ...monitorContent(notification, vehicle, 'fleet') };
}

/** Returns one Message (user side). */
export function userMessage(
  vehicle: NamedVehicle,
  callbackId: string,
  attributes: BodyAttributes,
  notification: Notification,
): Members {
  const date = dateTime(timeOf(notification));
  const type: CallbackType = notification.type;
  return { callbackId, attributes, type, date, ...userEvent(notification, vehicle) };
}

function userEvent(notification: Notification, vehicle: NamedVehicle): Members {
  if (notification.type === 'Remote') return { remoteEvent: remoteContent(notification) };
  const { monitorId } = notification.event;
  return { monitorEvent: { monitorId, ...monitorContent(notification, vehicle, 'user') } };
}

function monitorContent({ event }: MonitorNotification, vehicle: NamedVehicle, side: CallbackSide): Members {
  // Use the same form as the HTTP interface of this side. Privacy was applied when the event was created.
  const viewer: Viewer = { side, vehicle, positions: true, aliases: side === 'user' };
  const { values = [], extensions = [], refresh, at } = event;
  return {
    values: values.map((value) => valueJson(viewer, value)),
    ...(extensions.length === 0 ? {} : { extensions: extensions.map((one) => extensionJson(viewer, one, at)) }),
    refresh,
  };
}

function valueJson(viewer: Viewer, value: EventValue): Members {
  const { literal, alerts, collision, previous } = value;
  const data = dataOf(value);
  const before = viewer.side === 'user' && previous !== undefined ? { previous } : {};
  if (alerts !== undefined) {
    const objectValues = alerts.map((alert) => alertJson(viewer, alert));
    return { data, value: { type: 'obj.alert', body: { objectValues } }, ...before };
  }
  if (collision !== undefined) {
    const objectValues = [collisionJson(viewer, collision)];
    return { data, value: { type: 'obj.collision', body: { objectValues } }, ...before };
  }
  return { data, value: { type: 'string', body: { literalValue: literal ?? '' } }, ...before };
}

function remoteContent({ report }: RemoteNotification): Members {
  const { remoteActionId, type } = report;
  return { remoteActionId, remoteType: type, eventStatus: eventStatus(report) };
}

/** RemoteEventStatus (interface 3.18.0). */
function eventStatus({ status, failureCause }: RemoteReport): Members {
  const type = finalStatuses.has(status) ? 'Done' : 'Pending';
  return { type, status, ...defined({ failureCause }) };
}
