/**
 * Sends events to receivers, with the rules and the code of the car. A hub claims a receiver in the database, sends its
 * next request, and releases it. So hubs share the work, and a hub that dies leaves no permanent claim.
 */
import { randomUUID } from 'node:crypto';
import { withoutDevice } from '../../agent/callbacks/definition.ts';
import { callbackDestinations, type Destination, monitorDestination } from '../../agent/callbacks/destination.ts';
import { deliveryBounds } from '../../agent/callbacks/distribution.ts';
import type { NotificationItem, Notifier } from '../../agent/callbacks/notifier.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { idOf } from '../../assembly/view.ts';
import type { Motorization } from '../../protocol/interface/json/viewer.ts';
import { readDelivery } from '../../protocol/schema/callback.ts';
import type { ClaimedReceiver, DeliveryStore, WaitingDelivery } from '../core/deliveries.ts';
import type { DeliveryMeasures } from '../core/delivery-measures.ts';
import { Looks } from '../core/looks.ts';
import type { MonitorStore } from '../core/monitors.ts';
import { receiversOfCallback } from '../database/event-deliveries.ts';
import { DeliveryRound } from './delivery-round.ts';
import { DeliverySaves } from './delivery-saves.ts';
import type { HubNotification } from './notifier.ts';

/** Time in ms between two checks for due receivers. The checks find events from other hubs, and due retries. */
const EVERY = 1_000;
/** Largest number of parallel requests. Slow, dead and untried receivers never use the slots of the others. */
const { requests: SLOTS } = deliveryBounds;
const RESERVED = SLOTS / 4;
/** Duration of a claim in ms, longer than any request. After it, other hubs continue for a hub that died. */
const LEASE = 30_000;
/** Time in ms between two checks for callbacks with open connections that another hub has removed or paused. */
const LOOKED_UP = 10_000;

interface HubDeliveriesParts {
  readonly store: DeliveryStore;
  readonly books: Pick<MonitorStore, 'callbacksOf' | 'putCallback' | 'removeCallback'>;
  readonly notifier: Notifier;
  readonly measures: DeliveryMeasures;
  /** Returns the motorization from the last report of the car. */
  readonly motorizationOf: (vin: string) => Promise<Motorization>;
  /** Call when the monitors of cars may need an update. */
  readonly changed: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

export class HubDeliveries {
  readonly #parts: HubDeliveriesParts;
  readonly #saves: DeliverySaves;
  readonly #looks: Looks;
  /** Running rounds by receiver. */
  readonly #rounds = new Map<string, { readonly round: DeliveryRound; readonly running: Promise<void> }>();
  readonly #lease = randomUUID();
  /** Receivers to which this hub keeps a connection open, with the ids of their callbacks. */
  readonly #open = new Map<string, string>();
  /** Time of the next check of open connections, in monotonic ms. */
  #nextCheck = 0;

  constructor(parts: HubDeliveriesParts) {
    this.#parts = parts;
    this.#saves = new DeliverySaves(parts.store);
    const after = (delay: number, due: () => void) => parts.clock.after(delay, due);
    this.#looks = new Looks({ after, every: EVERY, look: () => this.#look() });
  }

  begin(): void {
    this.#looks.begin();
  }

  /** Call when events wait. */
  wake(): void {
    this.#looks.wake();
  }

  /** Call when a callback or monitor was changed through this hub. */
  changed(): void {
    this.#nextCheck = 0;
    this.wake();
  }

  /** Stops sending. Resolves when no request is running. Unfinished requests are repeated later. */
  async stop(): Promise<void> {
    await this.#looks.stop();
    const rounds = [...this.#rounds.values()];
    for (const { round } of rounds) round.stop();
    await Promise.all(rounds.map(({ running }) => running));
  }

  /** Never rejects. The next check retries after a failure. */
  async #look(): Promise<void> {
    try {
      await this.#releaseUnused();
      await this.#claim(true, SLOTS - this.#rounds.size);
      const unproven = [...this.#rounds.values()].filter(({ round }) => !round.proven).length;
      await this.#claim(false, Math.min(SLOTS - this.#rounds.size, SLOTS - RESERVED - unproven));
    } catch (error) {
      this.#parts.log.warn('hub.deliveries.failed', { error: (error as Error).message });
    }
  }

  /** Closes connections to callbacks that were removed or paused. */
  async #releaseUnused(): Promise<void> {
    const { store, notifier, clock } = this.#parts;
    if (this.#open.size === 0 || clock.monotonic() < this.#nextCheck) return;
    this.#nextCheck = clock.monotonic() + LOOKED_UP;
    const running = await store.running([...new Set(this.#open.values())]);
    for (const [key, callbackId] of this.#open) {
      if (running.has(callbackId)) continue;
      notifier.release(key);
      this.#open.delete(key);
    }
  }

  async #claim(proven: boolean, limit: number): Promise<void> {
    if (limit <= 0 || this.#looks.stopped) return;
    const { store, clock } = this.#parts;
    const options = { now: Math.round(clock.now()), lease: this.#lease, lasts: LEASE, proven, limit };
    for (const receiver of await store.claim(options)) {
      if (this.#looks.stopped) return;
      // After this process was suspended for longer than the lease, its requests are still running.
      if (!this.#rounds.has(receiver.key)) await this.#begin(receiver);
    }
  }

  async #begin(receiver: ClaimedReceiver): Promise<void> {
    const { store, notifier, measures, clock, log } = this.#parts;
    const to = this.#destinationOf(receiver);
    if (to === 'unreadable') {
      const { key, lease, held, tries, next } = receiver;
      const released = { proven: false, now: Math.round(clock.now()), resting: true, seen: next };
      await this.#saves.save({ key, lease, held, tries, done: [], lasts: LEASE, released });
      return;
    }
    if (to === undefined) {
      notifier.release(receiver.key);
      await store.removeReceiver(receiver.key, receiver.lease);
      return;
    }
    if (to.place.channel === 'websocket') this.#open.set(receiver.key, receiver.callback?.callbackId ?? '');
    const waiting = await store.waiting(receiver.key, to.batch);
    const round = new DeliveryRound({
      receiver,
      to,
      waiting,
      items: await this.#itemsOf(receiver, waiting),
      lasts: LEASE,
      notifier,
      measures,
      clock,
      log,
      save: (change) => this.#saves.save(change),
      gone: (reason) => this.#forget(receiver, to, reason),
    });
    const running = round
      .run()
      .then(() => round.release())
      .catch((error: Error) => log.warn('hub.deliveries.failed', { receiver: receiver.key, error: error.message }))
      .finally(() => {
        this.#rounds.delete(receiver.key);
        this.wake();
      });
    this.#rounds.set(receiver.key, { round, running });
  }

  /**
   * Returns the destination, or undefined if the callback or device was removed. If the callback is unreadable, its
   * events wait until it changes.
   */
  #destinationOf({
    key,
    callback,
    delivery,
    removed,
    unreadable,
  }: ClaimedReceiver): Destination | undefined | 'unreadable' {
    try {
      if (unreadable !== undefined) throw new Error(unreadable);
      if (callback === undefined) {
        return delivery === undefined ? undefined : monitorDestination(readDelivery(delivery));
      }
      const endpoint = removed ? undefined : receiversOfCallback(callback).get(key);
      return endpoint === undefined ? undefined : callbackDestinations(callback).get(endpoint);
    } catch (error) {
      this.#parts.log.error('callbacks.unreadable', { key, error: (error as Error).message });
      return 'unreadable';
    }
  }

  async #itemsOf({ owner }: ClaimedReceiver, waiting: readonly WaitingDelivery[]): Promise<NotificationItem[]> {
    const items: NotificationItem[] = [];
    const fleet = owner.kind === 'fleet' ? owner.id : '';
    for (const { vin, contents: kept, about } of waiting) {
      if (about === undefined) continue;
      const contents = kept as Pick<HubNotification, 'label' | 'attributes' | 'callbackAttributes'>;
      // Only events with extensions depend on the motorization.
      const extended = 'event' in about && about.event.extensions !== undefined;
      const motorization = extended ? await this.#parts.motorizationOf(vin) : 'Thermic';
      const along = { ...contents, vin, motorization, fleet };
      if ('report' in about) {
        const { report, time: at } = about;
        // If the car sends a state again after a power cut, it is the same event.
        const id = `${report.remoteActionId}.${report.status}`;
        items.push({ id, notification: { type: 'Remote', report, at, ...along } as HubNotification });
        continue;
      }
      const { telemetry: _, ...event } = about.event;
      // Two cars may use the same id for an event.
      items.push({
        id: `${idOf(vin)}-${event.id}`,
        notification: { type: 'Monitor', event, ...along } as HubNotification,
      });
    }
    return items;
  }

  /** Removes a device that no longer exists. If no device is left, also removes the callback and its monitors. */
  async #forget({ key, lease, owner, callback }: ClaimedReceiver, { place }: Destination, reason: string) {
    const { store, books, clock, log, changed } = this.#parts;
    if (callback === undefined || place.channel !== 'pushnotif') return;
    const { callbackId } = callback;
    const current = (await books.callbacksOf(owner)).find((one) => one.callback.callbackId === callbackId)?.callback;
    const left = current && withoutDevice(current, place.device.endpoint, clock.now());
    const devices = left?.subscribe.callback.pushnotif?.devices.length ?? 0;
    log.info('callbacks.forgotten', { callbackId, reason, left: devices });
    if (left !== undefined) await books.putCallback({ owner, callback: left });
    else await books.removeCallback(owner, callbackId);
    await store.removeReceiver(key, lease);
    changed();
  }
}
