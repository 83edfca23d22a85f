/** Monitors and callbacks that fleets and users gave at the hub. */
import type { Callback } from '../protocol/schema/callback.ts';
import type { Monitor } from '../protocol/schema/monitor.ts';
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

/** Keeps them for all hubs. Each change is one commit; it rejects with `store.failed`. */
export interface MonitorStore {
  /** In the order in which they were given. */
  monitorsOf(owner: Owner): Promise<readonly OwnedMonitor[]>;
  callbacksOf(owner: Owner): Promise<readonly OwnedCallback[]>;
  putMonitor(one: OwnedMonitor): Promise<void>;
  /** False: the owner has no such monitor. */
  removeMonitor(owner: Owner, id: string): Promise<boolean>;
  putCallback(one: OwnedCallback): Promise<void>;
  /** Removes it with the monitors that were given under it. False: the owner has no such callback. */
  removeCallback(owner: Owner, id: string): Promise<boolean>;
}
