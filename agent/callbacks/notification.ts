/** An event of a monitor or a state of a command, stored until every receiver has it. */
import type { Attribute } from '../../protocol/schema/callback/attributes.ts';
import type { ChannelAttributes } from '../../protocol/schema/callback/delivery.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';

/** Collection in the record store. Clients can also read its records, which are kept as long as others. */
export const NOTIFICATIONS = 'notification';

interface Labelled {
  /** Label of the monitor or of the command. */
  readonly label?: string;
  /** Attributes for the user side; a later one replaces an earlier one of the same name. */
  readonly attributes?: readonly Attribute[];
  readonly callbackAttributes?: ChannelAttributes;
}

/** Event without its context (`telemetry`), which the interface cannot represent. */
export interface MonitorNotification extends Labelled {
  readonly type: 'Monitor';
  readonly event: Omit<MonitorEvent, 'telemetry'>;
}

export interface RemoteNotification extends Labelled {
  readonly type: 'Remote';
  readonly report: RemoteReport;
  /** UTC ms. */
  readonly at: number;
}

export type Notification = MonitorNotification | RemoteNotification;

export function timeOf(notification: Notification): number {
  return notification.type === 'Monitor' ? notification.event.at : notification.at;
}

/** Returns the notification with its times `by` ms later. */
export function shifted<H extends Notification>(notification: H, by: number): Notification {
  if (notification.type === 'Remote') return { ...notification, at: notification.at + by };
  return { ...notification, event: { ...notification.event, at: notification.event.at + by } };
}
