/** A fleet at the hub: cars join and leave, monitors change, and the real synchronisation brings them into the cars. */

import type { Agent } from '../../agent/agent.ts';
import { differences, MonitorSync, type MonitorSyncParts } from '../../hub/core/monitor-sync.ts';
import type { Owner } from '../../hub/core/registry.ts';
import { type SqliteDatabase, SqlMonitors, SqlRegistry } from '../../hub/database/index.ts';
import { digestOf } from '../../hub/start/clients.ts';
import { compileMonitor, type MonitorStatus } from '../../protocol/schema/monitor.ts';
import type { Chance } from './chance.ts';

/** Address of the receiver of the fleet. */
export const HUB_WEBHOOK = { target: 'https://fleet.example/events', name: 'n' };
export const FLEET: Owner = { kind: 'fleet', id: 'fleet' };
/** Waits for the report of a car, ms. By then earlier commands have expired, as in `hub/start/monitors.ts`. */
const [FIRST, LONGEST] = [240_000, 600_000];

export type FleetChange = MonitorStatus | 'removed' | 'joins' | 'leaves';
/** Ids of fleet monitors, and the speeds above which they fire. */
export const FLEET_MONITORS = ['f0', 'f1', 'f2'] as const;
export const SPEEDS = [10, 30, 60] as const;

export interface FleetOrder {
  readonly change: FleetChange;
  readonly monitorId: string;
  readonly speed: number;
}

export class Fleet {
  readonly #monitors: SqlMonitors;
  readonly #registry: SqlRegistry;
  readonly #vins: readonly string[];
  readonly #now: () => number;
  /** Whether events of the monitors go to a webhook. */
  readonly #callbacks: boolean;
  /** Latest accepted requests: speed and status by monitor, and the cars. */
  readonly #given = new Map<string, { readonly speed: number; readonly status: MonitorStatus }>();
  readonly #cars = new Set<string>();
  /** Until a car joins a fleet for the first time, all cars get all monitors. */
  #isUsed = false;
  #sync: MonitorSync | undefined;

  /** @param now UTC ms of the hub */
  constructor(database: SqliteDatabase, vins: readonly string[], now: () => number, callbacks = false) {
    this.#callbacks = callbacks;
    this.#vins = vins;
    this.#monitors = new SqlMonitors(database);
    this.#registry = new SqlRegistry(database);
    this.#now = now;
  }

  /** Starts the comparison of a hub. */
  begin(parts: Pick<MonitorSyncParts, 'commands' | 'clock' | 'after' | 'log' | 'newId'>, chance: Chance): MonitorSync {
    const sync = new MonitorSync({
      ...parts,
      store: this.#monitors,
      wait: (attempts) => Math.min(LONGEST, FIRST * 2 ** attempts) * (0.5 + chance.real() / 2),
      digest: digestOf,
    });
    sync.begin();
    this.#sync = sync;
    return sync;
  }

  /** Changes the fleet at the interface of the hub. */
  async change(vin: string, { change, monitorId, speed }: FleetOrder): Promise<void> {
    const now = Math.round(this.#now());
    if (change === 'joins') {
      // From its first fleet on, a hub accepts messages only from registered cars.
      if (!this.#isUsed) for (const one of this.#vins) await this.#registry.add(one, [], now);
      await this.#registry.add(vin, [FLEET], now);
      this.#cars.add(vin);
      this.#isUsed = true;
    } else if (change === 'leaves') {
      if (!this.#cars.has(vin)) return;
      await this.#registry.leave(vin, [FLEET], now);
      this.#cars.delete(vin);
    } else if (change === 'removed') {
      await this.#monitors.removeMonitor(FLEET, monitorId);
      this.#given.delete(monitorId);
    } else {
      const { parameter } = compileMonitor(monitorOf(speed, this.#callbacks));
      const monitor = { createdAt: now, monitorId, updatedAt: now, status: change, monitor: parameter };
      await this.#monitors.putMonitor({ owner: FLEET, monitor });
      this.#given.set(monitorId, { speed, status: change });
    }
    this.#sync?.wake();
  }

  /** Whether the fleet receives the events of a car. */
  owns(vin: string): boolean {
    return this.#cars.has(vin) || !this.#isUsed;
  }

  /** Whether the fleet has this monitor. */
  has(monitorId: string): boolean {
    return this.#given.has(monitorId);
  }

  /** Number of commands that a car still needs. */
  async lacks(vin: string): Promise<number> {
    return differences(await this.#monitors.carMonitors(vin), digestOf).length;
  }

  /** Descriptions of differences between the monitors of a car and those of the fleet. */
  broken(vin: string, { monitors }: Agent): string[] {
    const given = this.owns(vin) ? this.#given : new Map<string, never>();
    const there = new Map(monitors.all.map((one) => [one.monitorId, one]));
    return FLEET_MONITORS.flatMap((id) => {
      const [wanted, own] = [given.get(id), there.get(id)];
      const isAsWanted =
        own?.status === wanted?.status && (wanted === undefined || own?.monitor.label === labelOf(wanted.speed));
      return isAsWanted ? [] : [`${id} is ${own?.monitor.label} ${own?.status}, not ${JSON.stringify(wanted)}`];
    });
  }
}

function labelOf(speed: number): string {
  return `above ${speed}`;
}

function monitorOf(speed: number, callbacks: boolean): object {
  const data = { data: 'kinetic.speed', op: 'greaterThan', value: [String(speed)] };
  const subscribeParam = {
    retryPolicy: { policy: 'Always', retryDelay: 10 },
    batchNotify: { size: 5, timeWindow: 20 },
    callback: { webhook: HUB_WEBHOOK },
  };
  const monitor = { label: labelOf(speed), triggerParam: { triggers: [{ name: 't', data }], boolExp: 't' } };
  return callbacks ? { ...monitor, subscribeParam } : monitor;
}
