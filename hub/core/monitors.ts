/** Monitors and callbacks that fleets and users created at the hub, and the monitors that cars report. */
import type { Callback } from '../../protocol/schema/callback.ts';
import type { Monitor, MonitorList } from '../../protocol/schema/monitor.ts';
import type { Owner } from './registry.ts';

/** A monitor and the cars to which it applies. */
export interface OwnedMonitor {
  readonly owner: Owner;
  /** The only car of the monitor. If omitted, all cars of the owner, including cars that join later. */
  readonly vin?: string;
  /** User side: the callback under which the monitor was created. */
  readonly callbackId?: string;
  readonly monitor: Monitor;
}

export interface OwnedCallback {
  readonly owner: Owner;
  readonly callback: Callback;
}

/** Stores monitors and callbacks. Each change is one commit, which makes cars due. Rejects with `store.failed`. */
export interface MonitorStore {
  /** In the order of creation. */
  monitorsOf(owner: Owner): Promise<readonly OwnedMonitor[]>;
  callbacksOf(owner: Owner): Promise<readonly OwnedCallback[]>;
  /** Replaces the monitor with the same id. Rejects with `request.forbidden` if another owner has this id. */
  putMonitor(one: OwnedMonitor): Promise<void>;
  /** Removes a monitor. Resolves with false if the owner has no such monitor. */
  removeMonitor(owner: Owner, id: string): Promise<boolean>;
  /** Replaces the callback with the same id, under the rules of {@link putMonitor}. */
  putCallback(one: OwnedCallback): Promise<void>;
  /** Removes a callback with its monitors. Resolves with false if the owner has no such callback. */
  removeCallback(owner: Owner, id: string): Promise<boolean>;
}

/** A car that is due for a comparison of its reported monitors with those that it should have. */
export interface DueMonitors {
  readonly vin: string;
  /** Due time in UTC ms. */
  readonly due: number;
  /** Number of times that commands were sent since the car last had all its monitors. */
  readonly attempts: number;
  /** Arrival of the latest message of the car in UTC ms of the hub. */
  readonly lastSeen: number;
}

/** The monitors of one car. */
export interface CarMonitors {
  /** Monitors that the car should have. */
  readonly wanted: readonly OwnedMonitor[];
  /** Monitors in the car's last report; empty before its first report. */
  readonly reported: MonitorList['monitors'];
  /** Arrival of the report in UTC ms of the hub. Omitted if the car has reported nothing. */
  readonly reportedAt?: number;
}

/** Schedule of comparisons, shared by all hubs. */
export interface CarMonitorStore {
  /** Cars that are due at `now`, oldest first, at most `limit`. */
  dueCars(now: number, limit: number): Promise<readonly DueMonitors[]>;
  /**
   * Sets the next due time. If `due` is omitted, the car becomes due with the next change. Resolves with false and
   * changes nothing if another hub or a change came first.
   */
  putOffCar(one: DueMonitors, next: { readonly due?: number; readonly attempts: number }): Promise<boolean>;
  carMonitors(vin: string): Promise<CarMonitors>;
  /** Call when the car can receive messages: monitors that it lacks become due at `at` (UTC ms). */
  carOnline(vin: string, at: number): Promise<void>;
}
