/** Sends the notifications of a hub: through the channels of the car, with the name of the vehicle. */
import type { NotificationChannels } from '../../adapters/callbacks/channel.ts';
import { notifierOf } from '../../adapters/callbacks/request-batch.ts';
import type { Notification } from '../../agent/callbacks/notification.ts';
import type { Notifier } from '../../agent/callbacks/notifier.ts';
import { idOf } from '../../assembly/view.ts';
import type { Motorization } from '../../protocol/interface/json/viewer.ts';

/** A notification of a car, for one fleet. */
export type HubNotification = Notification & {
  readonly vin: string;
  readonly motorization: Motorization;
  /** Fleet of the receiver. Empty on the user side, where notifications contain no fleet. */
  readonly fleet: string;
};

/** Returns a notifier for {@link HubNotification}s. */
export function hubNotifier(channels: NotificationChannels): Notifier {
  return notifierOf(channels, (notification) => {
    const { vin, motorization, fleet } = notification as HubNotification;
    return { vin, vid: idOf(vin), motorization, fleetId: fleet };
  });
}
