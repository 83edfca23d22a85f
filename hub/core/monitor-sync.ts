/**
 * Sends cars the monitors that they should have. What a car should have follows from the database, what it has from the
 * list that it publishes after each change: where both differ, the car gets a command for each difference, so that a lost
 * command, a killed hub and a car that was away are all repaired by the next comparison. A command is the same however
 * often it comes: it has the whole monitor.
 */
import type { CommandBody } from '../../protocol/command.ts';
import type { Monitor } from '../../protocol/schema/monitor.ts';
import type { HubCommands } from './commands.ts';
import { Looks } from './looks.ts';
import type { CarMonitorStore, CarMonitors, DueMonitors } from './monitors.ts';
import type { HubLog, Timer, WallClock } from './ports.ts';

type MonitorOrder = CommandBody<'Monitor'>;

/** Between two looks at what is due, ms. */
const EVERY = 5_000;
/** Cars that one look serves: a whole fleet is served little by little. */
const MOST = 100;
/** Commands that a car gets at once: it refuses what is more than 64 commands behind the newest. */
const MOST_COMMANDS = 32;
/** A car without messages for longer is away. It is served when it subscribes again. ms */
const AWAY = 300_000;
/** Who asks, in the audit trail. */
const CALLER = 'hub';
/** Characters of a revision. */
const REVISION = 16;

export interface MonitorSyncParts {
  readonly store: CarMonitorStore;
  readonly commands: Pick<HubCommands, 'submit'>;
  readonly clock: WallClock;
  readonly after: Timer;
  /** How long to wait for the report of a car before the commands are sent again, ms. */
  readonly wait: (attempts: number) => number;
  readonly newId: () => string;
  /** A digest of a text, hexadecimal. */
  readonly digest: (text: string) => string;
  readonly log: HubLog;
}

export class MonitorSync {
  readonly #parts: MonitorSyncParts;
  readonly #looks: Looks;
  /** Cars that have subscribed since the last round, whatever arrived from them before. */
  #online = new Set<string>();

  constructor(parts: MonitorSyncParts) {
    this.#parts = parts;
    this.#looks = new Looks({ after: parts.after, every: EVERY, look: () => this.#look() });
  }

  /** Compares by itself from now on. */
  begin(): void {
    this.#looks.begin();
  }

  /** Resolves when nothing is sent any more. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Looks now: something has changed. */
  wake(): void {
    this.#looks.wake();
  }

  /** The car can receive: it gets at once what it lacks. */
  async online(vin: string): Promise<void> {
    this.#online.add(vin);
    await this.#parts.store.carOnline(vin, Math.round(this.#parts.clock.now()));
    this.wake();
  }

  /** Never rejects: what failed is tried at the next look. */
  async #look(): Promise<void> {
    const { store, clock, log } = this.#parts;
    const online = this.#online;
    this.#online = new Set();
    try {
      for (const one of await store.dueCars(Math.round(clock.now()), MOST)) {
        if (this.#looks.stopped) return;
        await this.#serve(one, online.has(one.vin));
      }
    } catch (error) {
      log.warn('hub.monitors.failed', { error: (error as Error).message });
    }
  }

  async #serve(one: DueMonitors, isOnline: boolean): Promise<void> {
    const { store, commands, clock, wait, newId, digest, log } = this.#parts;
    const { vin, attempts, lastSeen } = one;
    const orders = differences(await store.carMonitors(vin), digest);
    if (orders.length === 0) {
      await store.putOffCar(one, { attempts: 0 });
      return;
    }
    const now = Math.round(clock.now());
    const due = (after: number): number => now + Math.round(wait(after));
    if (!isOnline && lastSeen < now - AWAY) {
      await store.putOffCar(one, { due: due(attempts), attempts });
      return;
    }
    if (!(await store.putOffCar(one, { due: due(attempts), attempts: attempts + 1 }))) return;
    log.info('hub.monitors.sent', { vin, monitors: orders.length });
    for (const body of orders.slice(0, MOST_COMMANDS)) {
      await commands.submit({ id: newId(), vin, type: 'Monitor', body, caller: CALLER });
    }
  }
}

/** Names what a car has to do with a monitor: equal for equal monitors. */
export function revisionOf({ status, monitor }: Monitor, digest: (text: string) => string): string {
  return digest(JSON.stringify([status, sentOf(monitor)])).slice(0, REVISION);
}

/** Where events go is the business of the hub: the car neither sends them there nor learns the address. */
function sentOf({ delivery: _, ...parameter }: Monitor['monitor']): Monitor['monitor'] {
  return parameter;
}

/** Commands that give a car what it should have. Monitors that others gave it have no revision, and stay. */
export function differences(
  { wanted, reported }: Pick<CarMonitors, 'wanted' | 'reported'>,
  digest: (text: string) => string,
): MonitorOrder[] {
  const known = new Map(reported.map((one) => [one.monitorId, one]));
  const orders: MonitorOrder[] = [];
  const ids = new Set<string>();
  for (const { monitor } of wanted) {
    const { monitorId, status } = monitor;
    ids.add(monitorId);
    const revision = revisionOf(monitor, digest);
    const there = known.get(monitorId);
    if (there?.revision === revision && there.status === status) continue;
    orders.push({ monitorId, monitor: sentOf(monitor.monitor), status, revision });
  }
  for (const { monitorId, revision } of reported) {
    if (revision !== undefined && !ids.has(monitorId)) orders.unshift({ monitorId, remove: true });
  }
  return orders;
}
