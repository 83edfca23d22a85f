/** Events that a receiver must get, and their outcomes. */
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import { MONITORS, receiverOf } from './interface-user.ts';
import type { Receivers } from './receivers.ts';

/** Log events that record the end of a notification without delivery. */
export const DELIVERY_ENDS: ReadonlySet<string> = new Set([
  'callbacks.dropped',
  'callbacks.undelivered',
  'callbacks.unencodable',
  'callbacks.unreadableEvent',
]);

export class ExpectedDeliveries {
  /** Ids by receiver. */
  readonly #expected = new Map<string, Set<string>>();
  #ended = 0;

  /** The car has published an event, so its notification is on disk. */
  published({ id, monitorId, complement }: MonitorEvent): void {
    if (complement === true || !Object.hasOwn(MONITORS, monitorId)) return;
    const receiver = receiverOf(monitorId);
    const known = this.#expected.get(receiver) ?? new Set();
    this.#expected.set(receiver, known.add(id));
  }

  logged(event: string): void {
    if (DELIVERY_ENDS.has(event)) this.#ended++;
  }

  get count(): number {
    return [...this.#expected.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Notifications that are neither delivered nor recorded as ended. */
  missing({ delivered }: Receivers): string[] {
    const missing = [...this.#expected].flatMap(([receiver, ids]) =>
      [...ids].filter((id) => delivered.get(receiver)?.has(id) !== true).map((id) => `${receiver} ${id}`),
    );
    return missing.length > this.#ended ? missing : [];
  }
}
