/**
 * Sends cars the monitors that they should have. The database contains the monitors that a car should have; after each
 * change, the car publishes a list of the monitors that it has. For each difference the hub sends a command. The next
 * comparison therefore compensates for a lost command, a killed hub or a car that was away. A command contains the
 * whole monitor, so repeating it is harmless.
 */
import type { CommandBody } from '../../protocol/command.ts';
import type { Monitor } from '../../protocol/schema/monitor.ts';
import type { HubCommands } from './commands.ts';
import { Looks } from './looks.ts';
import type { CarMonitorStore, CarMonitors, DueMonitors } from './monitors.ts';
import type { HubLog, Timer, WallClock } from './ports.ts';

type MonitorOrder = CommandBody<'Monitor'>;

/** Time in ms between two checks for due cars. */
const EVERY = 5_000;
/** Largest number of cars in one check: a whole fleet is processed in small parts. */
const MOST = 100;
/** Largest number of commands to a car at once. The car refuses commands that are more than 64 behind the newest. */
const MOST_COMMANDS = 32;
/** Time in ms without messages after which a car counts as away. It is processed when it subscribes again. */
const AWAY = 300_000;
/** Caller in the audit trail. */
const CALLER = 'hub';
/** Length of a revision in characters. */
const REVISION = 16;

export interface MonitorSyncParts {
  readonly store: CarMonitorStore;
  readonly commands: Pick<HubCommands, 'submitOwn'>;
  readonly clock: WallClock;
  readonly after: Timer;
  /** Returns the time in ms to wait for the report of a car before the commands are sent again. */
  readonly wait: (attempts: number) => number;
  readonly newId: () => string;
  /** Returns the digest of a string in hexadecimal. */
  readonly digest: (text: string) => string;
  readonly log: HubLog;
}

export class MonitorSync {
  readonly #parts: MonitorSyncParts;
  readonly #looks: Looks;
  /** Cars that have subscribed since the last check, even if their last message is old. */
  #online = new Set<string>();

  constructor(parts: MonitorSyncParts) {
    this.#parts = parts;
    this.#looks = new Looks({ after: parts.after, every: EVERY, look: () => this.#look() });
  }

  /** Starts the regular comparisons. */
  begin(): void {
    this.#looks.begin();
  }

  /** Stops the comparisons. Resolves when no commands are being sent any more. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Checks now. Call after a change. */
  wake(): void {
    this.#looks.wake();
  }

  /** Call when the car can receive messages. Sends the monitors that it lacks at once. */
  async online(vin: string): Promise<void> {
    this.#online.add(vin);
    await this.#parts.store.carOnline(vin, Math.round(this.#parts.clock.now()));
    this.wake();
  }

  /** Never rejects. The next check retries after a failure. */
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
    for (const body of orders.slice(0, MOST_COMMANDS)) {
      if (!(await commands.submitOwn({ id: newId(), vin, type: 'Monitor', body, caller: CALLER }))) return;
    }
    log.info('hub.monitors.sent', { vin, monitors: orders.length });
  }
}

/** Returns a digest of a monitor's effect in the car. Monitors with the same effect have equal revisions. */
export function revisionOf({ status, monitor }: Monitor, digest: (text: string) => string): string {
  return digest(JSON.stringify([status, sentOf(monitor)])).slice(0, REVISION);
}

/** Returns the monitor without its delivery. Only the hub sends events, so the car must not learn the address. */
function sentOf({ delivery: _, ...parameter }: Monitor['monitor']): Monitor['monitor'] {
  return parameter;
}

/** Returns the commands that remove the differences. Monitors from others have no revision and stay unchanged. */
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
