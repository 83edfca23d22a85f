import { type RemoteType, remoteTypes } from '../../protocol/remote/table.ts';
import type { Callback, CallbackSide, CallbackStatus } from '../../protocol/schema/callback.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import type { Clock, Log, Memory, RecordStore } from '../ports.ts';
import { final } from '../remotes/ledger.ts';
import { type CommandOrigin, CommandOrigins } from './command-origins.ts';
import { checkMonitorDelivery, defineCallback, unknownCallback, withoutDevice } from './definition.ts';
import { type DeliveryTarget, type Destination, isSubscribed } from './destination.ts';
import { type DeliveryBounds, Distribution, deliveryBounds } from './distribution.ts';
import { MonitorPlaces, receiverOfMonitor, type WatchedMonitors } from './monitor-places.ts';
import type { Notifier } from './notifier.ts';
import type { Losses } from './queue.ts';
import { CallbackStore } from './store.ts';

const MONITOR = receiverOfMonitor('');

interface CallbacksParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly monitors: WatchedMonitors;
  readonly notifier: Notifier;
  /** Stores each event until all receivers have it, in the same commits as the states. */
  readonly records: RecordStore;
  /** Resolves when all changes made before the call are on disk; rejects if the disk refuses the write. */
  readonly committed: () => Promise<void>;
  readonly bounds?: Partial<DeliveryBounds>;
}

/**
 * Callbacks and the delivery of events: receives events of monitors and states of commands, and delivers each to its
 * receivers at least once, in order. docs/callbacks.md describes it. Its state has many keys; see {@link states} and
 * {@link recall}.
 */
export class Callbacks {
  readonly #parts: CallbacksParts;
  readonly #store = new CallbackStore();
  readonly #places: MonitorPlaces;
  readonly #origins = new CommandOrigins();
  readonly #distribution: Distribution;

  constructor(parts: CallbacksParts) {
    const { monitors, log, bounds } = parts;
    this.#parts = parts;
    this.#places = new MonitorPlaces(monitors, log);
    this.#distribution = new Distribution({
      ...parts,
      bounds: { ...deliveryBounds, ...bounds },
      destination: (receiver) => this.#destination(receiver),
      running: (receiver) => this.#runs(receiver),
      gone: (receiver, reason) => this.#gone(receiver, reason),
      idle: (receiver) => this.#idle(receiver),
    });
  }

  /** Returns the callbacks in the order in which they were added. They contain secrets: see `shownSubscribe`. */
  list(side?: CallbackSide): readonly Callback[] {
    return this.#store.all.filter((callback) => side === undefined || callback.side === side);
  }

  get(id: string): Callback | undefined {
    return this.#store.get(id)?.callback;
  }

  /** Number of waiting events by receiver (`callback/ID`, `callback/ID/deviceN`, `monitor/ID`). */
  get waiting(): ReadonlyMap<string, number> {
    return this.#distribution.waiting;
  }

  /** Number of events that a receiver did not get, by receiver and reason. Never reset. */
  get losses(): ReadonlyMap<string, Losses> {
    return this.#distribution.losses;
  }

  /** Adds a new callback and starts it. @throws VigieError as {@link put} does */
  add(side: CallbackSide, input: unknown): Callback {
    return this.put(side, this.#store.newId(this.#parts.clock.now()), input);
  }

  /**
   * Adds a callback or replaces the one with this id; events that wait for the old one are sent to the new address.
   * @throws VigieError `input.malformed`, `input.unknown` if the interface does not allow the callback, its address is
   * forbidden, its channel is not configured, its id belongs to the other side, or there are too many
   */
  put(side: CallbackSide, id: string, input: unknown, status?: CallbackStatus): Callback {
    const callback = defineCallback(
      { side, id, input, status },
      {
        notifier: this.#parts.notifier,
        before: this.get(id),
        count: this.#store.size,
        now: this.#parts.clock.now(),
      },
    );
    this.#keep(callback);
    return callback;
  }

  /** Resumes or pauses the callback. While it is paused, its events are queued as if the receiver were unreachable. */
  setStatus(id: string, status: CallbackStatus): Callback {
    const before = this.get(id);
    if (before === undefined) throw unknownCallback(id);
    if (before.status === status) return before;
    const callback: Callback = { ...before, status, updatedAt: Math.round(this.#parts.clock.now()) };
    this.#keep(callback);
    return callback;
  }

  /** Removes a callback, its waiting events and the monitors added under it. Returns false if it does not exist. */
  remove(id: string): boolean {
    const entry = this.#store.delete(id);
    if (entry === undefined) return false;
    for (const receiver of entry.receivers.keys()) this.#distribution.remove(receiver);
    const { monitors } = this.#parts;
    for (const monitor of monitors.all) {
      if (this.#places.delivery(monitor).callbackId === id) monitors.remove(monitor.monitorId);
    }
    return true;
  }

  /**
   * Checks the delivery settings of a MonitorParameter before the monitor is added: on the fleet side it must have a
   * webhook, on the user side its callback (`subscribeParam.callbackId`) must exist.
   * @throws VigieError `input.malformed`, `input.unknown`
   */
  checkMonitor(side: CallbackSide, parameter: unknown): void {
    checkMonitorDelivery(side, parameter, { notifier: this.#parts.notifier, get: (id) => this.get(id) });
  }

  /** Accepts an event of a monitor. Call before the event is published, so that both are in one commit. */
  event(event: MonitorEvent): void {
    if (event.complement === true) return;
    const monitor = this.#parts.monitors.get(event.monitorId);
    if (monitor === undefined) return;
    const { webhook, callbackId, attributes, callbackAttributes } = this.#places.delivery(monitor);
    const receivers: string[] = [];
    if (webhook !== undefined) {
      receivers.push(receiverOfMonitor(event.monitorId));
      this.#places.note(monitor);
    }
    if (callbackId !== undefined) receivers.push(...this.#takers(callbackId, 'Monitor'));
    if (receivers.length === 0) return;
    const { telemetry: _, ...rest } = event;
    this.#distribution.tell(receivers, event.id, {
      type: 'Monitor',
      event: rest,
      label: monitor.monitor.label,
      ...(attributes.length === 0 ? {} : { attributes }),
      ...(Object.keys(callbackAttributes).length === 0 ? {} : { callbackAttributes }),
    });
  }

  /** Makes the callback receive the states of this command from now on. @throws VigieError `input.unknown` */
  setOrigin(remoteActionId: string, origin: CommandOrigin): void {
    if (this.get(origin.callbackId) === undefined) throw unknownCallback(origin.callbackId);
    this.#origins.set(remoteActionId, origin);
  }

  /** Accepts a state of a command. Call before the state is published, so that both are in one commit. */
  remote(report: RemoteReport): void {
    const { remoteActionId, type, status } = report;
    const origin = this.#origins.get(remoteActionId);
    if (origin === undefined || !isRemoteType(type)) return;
    if (final(status)) this.#origins.delete(remoteActionId);
    const { callbackId, ...along } = origin;
    const receivers = this.#takers(callbackId, 'Remote', type);
    if (receivers.length === 0) return;
    const at = Math.round(this.#parts.clock.now());
    // A state that is sent again after a power cut is the same event.
    this.#distribution.tell(receivers, `${remoteActionId}.${status}`, { type: 'Remote', report, at, ...along });
  }

  /** Resolves when all changes so far are on disk; rejects if the disk refuses the write. */
  saved(): Promise<void> {
    return this.#parts.committed();
  }

  start(): void {
    this.#distribution.start();
  }

  /** Stops sending. Waiting events stay stored. */
  stop(): void {
    this.#distribution.stop();
  }

  /** Corrects the times of events between `earliest` and `latest` (UTC ms), which were `by` ms too early. */
  correct(by: number, earliest: number, latest: number): void {
    this.#distribution.correct(by, earliest, latest);
  }

  /** Returns the changes since the last call, for the same commit as the events. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    yield* this.#store.states();
    yield* this.#origins.states();
    yield* this.#places.states();
    yield* this.#distribution.states();
  }

  /** Restores the state of the previous run, after the monitors. Unreadable parts are omitted and logged. */
  recall(memory: Pick<Memory, 'recall'>): void {
    this.#store.recall(memory, this.#parts.log);
    this.#origins.recall(memory, this.#parts.log);
    const receivers = Distribution.kept(memory);
    for (const receiver of receivers) {
      if (receiver.startsWith(MONITOR)) this.#places.recall(memory, receiver.slice(MONITOR.length));
    }
    this.#distribution.recall(memory, receivers);
  }

  #keep(callback: Callback): void {
    const before = this.#store.get(callback.callbackId)?.receivers;
    for (const receiver of this.#store.set(callback)) this.#distribution.remove(receiver);
    for (const [receiver, to] of this.#store.get(callback.callbackId)?.receivers ?? []) {
      const known = before?.get(receiver);
      // A connection to the former address is useless and would stay open forever.
      const moved = known !== undefined && !samePlace(known.place, to.place);
      if (callback.status === 'Paused' || moved) this.#distribution.release(receiver);
      this.#distribution.wake(receiver);
    }
  }

  #takers(callbackId: string, kind: 'Monitor' | 'Remote', type?: RemoteType): string[] {
    const entry = this.#store.get(callbackId);
    if (entry === undefined) {
      this.#parts.log.warn('callbacks.unknown', { callbackId });
      return [];
    }
    return isSubscribed(entry.callback, kind, type) ? [...entry.receivers.keys()] : [];
  }

  #destination(receiver: string): Destination | undefined {
    if (receiver.startsWith(MONITOR)) return this.#places.destination(receiver.slice(MONITOR.length));
    return this.#store.ofReceiver(receiver)?.receivers.get(receiver);
  }

  #runs(receiver: string): boolean {
    // A paused monitor emits no new events; its earlier events are delivered.
    if (receiver.startsWith(MONITOR)) return true;
    return this.#store.ofReceiver(receiver)?.callback.status === 'Running';
  }

  #idle(receiver: string): boolean {
    if (!receiver.startsWith(MONITOR)) return this.#store.ofReceiver(receiver) !== undefined;
    const id = receiver.slice(MONITOR.length);
    if (this.#places.exists(id)) return true;
    this.#places.forget(id);
    return false;
  }

  /** Removes a device that no longer exists; with the last one also its callback and the monitors of that callback. */
  #gone(receiver: string, reason: string): void {
    const entry = this.#store.ofReceiver(receiver);
    const place = entry?.receivers.get(receiver)?.place;
    if (entry === undefined || place?.channel !== 'pushnotif') return;
    const { callback } = entry;
    const left = withoutDevice(callback, place.device.endpoint, this.#parts.clock.now());
    this.#parts.log.info('callbacks.forgotten', {
      callbackId: callback.callbackId,
      reason,
      left: left?.subscribe.callback.pushnotif?.devices.length ?? 0,
    });
    if (left === undefined) this.remove(callback.callbackId);
    else this.#keep(left);
  }
}

function samePlace(one: DeliveryTarget, other: DeliveryTarget): boolean {
  if (one.channel === 'pushnotif' || other.channel === 'pushnotif') return one.channel === other.channel;
  return one.channel === other.channel && one.target === other.target;
}

function isRemoteType(type: string): type is RemoteType {
  return (remoteTypes as readonly string[]).includes(type);
}
