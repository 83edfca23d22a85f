/** Destinations of the events of monitors, including removed monitors that still have queued events. */
import { type MonitorDelivery, readDelivery } from '../../protocol/schema/callback.ts';
import type { Monitor } from '../../protocol/schema/monitor.ts';
import type { Log, Memory } from '../ports.ts';
import { type Destination, monitorDestination } from './destination.ts';
import { keyOf } from './queue.ts';

/** The monitors of the car, with the fields that delivery needs. */
export interface WatchedMonitors {
  readonly all: readonly Monitor[];
  get(id: string): Monitor | undefined;
  /** Removes a monitor after the removal of its callback. */
  remove(id: string): void;
}

const nowhere: MonitorDelivery = readDelivery(undefined);

/** Returns the key of the receiver for a monitor's webhook. */
export const receiverOfMonitor = (id: string): string => `monitor/${id}`;
const stateKeyOf = (id: string): string => `${keyOf(receiverOfMonitor(id))}/to`;

export class MonitorPlaces {
  readonly #monitors: WatchedMonitors;
  readonly #log: Log;
  /** Keyed by the monitor object: an update creates a new one. */
  readonly #read = new WeakMap<Monitor, MonitorDelivery>();
  /** Delivery settings of each monitor at its last event, as JSON. */
  readonly #last = new Map<string, string>();
  readonly #changed = new Set<string>();

  constructor(monitors: WatchedMonitors, log: Log) {
    this.#monitors = monitors;
    this.#log = log;
  }

  /** Returns the delivery settings of a monitor. Invalid ones are logged once and have no receiver. */
  delivery(monitor: Monitor): MonitorDelivery {
    const known = this.#read.get(monitor);
    if (known !== undefined) return known;
    const delivery = this.#attempt(monitor.monitorId, monitor.monitor.delivery);
    this.#read.set(monitor, delivery);
    return delivery;
  }

  /** Stores the delivery settings of a monitor. Call before one of its events is queued. */
  note({ monitorId, monitor }: Monitor): void {
    const { delivery } = monitor;
    if (delivery === undefined || this.#last.get(monitorId) === delivery) return;
    this.#last.set(monitorId, delivery);
    this.#changed.add(monitorId);
  }

  /** Removes the delivery settings. Call when no event of the monitor is queued any more. */
  forget(id: string): void {
    if (this.#last.delete(id)) this.#changed.add(id);
  }

  exists(id: string): boolean {
    return this.#monitors.get(id) !== undefined;
  }

  destination(id: string): Destination | undefined {
    const monitor = this.#monitors.get(id);
    if (monitor !== undefined) return monitorDestination(this.delivery(monitor));
    return monitorDestination(this.#attempt(id, this.#last.get(id)));
  }

  *states(): Generator<readonly [key: string, value: unknown]> {
    for (const id of this.#changed) yield [stateKeyOf(id), this.#last.get(id)];
    this.#changed.clear();
  }

  recall(memory: Pick<Memory, 'recall'>, id: string): void {
    const text = memory.recall(stateKeyOf(id));
    if (typeof text === 'string') this.#last.set(id, text);
  }

  #attempt(monitorId: string, text: string | undefined): MonitorDelivery {
    try {
      return readDelivery(text);
    } catch (error) {
      this.#log.error('callbacks.unconfigured', { monitorId, error: (error as Error).message });
      return nowhere;
    }
  }
}
