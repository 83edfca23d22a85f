/** Monitors and callbacks that fleets and users gave at the hub, and what cars report of them. */
import type { Callback } from '../../protocol/schema/callback.ts';
import type { Monitor, MonitorList } from '../../protocol/schema/monitor.ts';
import type { Owner } from './registry.ts';

/** A monitor, and the cars that it is for. */
export interface OwnedMonitor {
  readonly owner: Owner;
  /** The only car that it is for; absent: every car of the owner, also one that joins later. */
  readonly vin?: string;
  /** User side: the callback under which it was given. */
  readonly callbackId?: string;
  readonly monitor: Monitor;
}

export interface OwnedCallback {
  readonly owner: Owner;
  readonly callback: Callback;
}

/** Keeps them for all hubs. Each change is one commit, which also makes the cars due; it rejects with `store.failed`. */
export interface MonitorStore {
  /** In the order in which they were given. */
  monitorsOf(owner: Owner): Promise<readonly OwnedMonitor[]>;
  callbacksOf(owner: Owner): Promise<readonly OwnedCallback[]>;
  /** Replaces the one with the same id. Rejects with `request.forbidden` when that belongs to another owner. */
  putMonitor(one: OwnedMonitor): Promise<void>;
  /** False: the owner has no such monitor. */
  removeMonitor(owner: Owner, id: string): Promise<boolean>;
  /** As {@link putMonitor}. */
  putCallback(one: OwnedCallback): Promise<void>;
  /** Removes it with the monitors that were given under it. False: the owner has no such callback. */
  removeCallback(owner: Owner, id: string): Promise<boolean>;
}

/** A car to compare: its reported monitors with those that it should have. */
export interface DueMonitors {
  readonly vin: string;
  /** UTC ms since when it is time. */
  readonly due: number;
  /** How often the car was sent something since it last had all of them. */
  readonly attempts: number;
  /** UTC ms of the hub: the latest message of the car. */
  readonly lastSeen: number;
}

/** The monitors of one car. */
export interface CarMonitors {
  /** Those that it should have. */
  readonly wanted: readonly OwnedMonitor[];
  /** Those that it reported last; empty while it has reported none. */
  readonly reported: MonitorList['monitors'];
  /** UTC ms of the hub: when the report came; absent: the car has reported nothing. */
  readonly reportedAt?: number;
}

/** Remembers for all hubs which cars are to be compared, and when. */
export interface CarMonitorStore {
  /** Cars that are due at `now`, the oldest first, at most `limit`. */
  dueCars(now: number, limit: number): Promise<readonly DueMonitors[]>;
  /** When it is time again; absent: when something changes. Resolves with false, and changes nothing, when another hub or a change was faster. */
  putOffCar(one: DueMonitors, next: { readonly due?: number; readonly attempts: number }): Promise<boolean>;
  carMonitors(vin: string): Promise<CarMonitors>;
  /** The car can receive: what it still lacks is due at `at`, UTC ms. */
  carOnline(vin: string, at: number): Promise<void>;
}
