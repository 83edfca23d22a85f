/** Monitors, callbacks and commands of the fleet or user that makes a request. */

import type { Call } from '../../adapters/http/call.ts';
import type {
  CallbackBook,
  MonitorBook,
  RemoteBook,
  ServedVehicles,
  VehicleView,
} from '../../adapters/http/resources/car.ts';
import { commandOriginOf } from '../../agent/callbacks/command-origins.ts';
import { checkMonitorDelivery, defineCallback, unknownCallback } from '../../agent/callbacks/definition.ts';
import type { Notifier } from '../../agent/callbacks/notifier.ts';
import type { RemoteAction } from '../../agent/remotes/requests.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { RemoteType } from '../../protocol/remote/table.ts';
import { type Callback, readDelivery } from '../../protocol/schema/callback.ts';
import { noSignals, type SignalRules } from '../../protocol/schema/monitor/signals.ts';
import { compileMonitor, MONITORS, type Monitor, monitorIdPattern } from '../../protocol/schema/monitor.ts';
import type { CommandOrder } from '../core/commands.ts';
import type { MonitorStore, OwnedCallback, OwnedMonitor } from '../core/monitors.ts';
import type { CallbackCommand, CommandStore, KeptCommand, VehicleReader, WallClock } from '../core/ports.ts';
import type { Owner } from '../core/registry.ts';
import { ownersIn } from './access.ts';
import { namesSignal, signalsOfCar, signalsOfCars } from './car-signals.ts';

interface HubBooksParts {
  readonly store: MonitorStore;
  readonly reader: VehicleReader;
  /** Checks addresses: rejects those to which the hub would not connect. */
  readonly notifier: Pick<Notifier, 'check'>;
  readonly clock: WallClock;
  /** Call when the monitors of cars may need an update. */
  readonly changed: () => void;
  readonly commands: {
    readonly store: Pick<CommandStore, 'throughCallback'>;
    submit(order: CommandOrder): Promise<KeptCommand>;
    newId(): string;
  };
}

/** How and where a monitor is to run. */
interface MonitorTarget {
  readonly status: Monitor['status'] | undefined;
  /** The only car. If undefined, all cars of the owner. */
  readonly vin: string | undefined;
  readonly signals: SignalRules;
}

/** Tags of operations that need monitors, callbacks or commands. */
const TAGS: ReadonlySet<string> = new Set(['Monitors', 'Callbacks', 'Remotes']);

/** Returns the vehicles that a call may see, with the monitors and callbacks of its owner. */
export function withBooks(
  parts: HubBooksParts,
  served: (call: Call) => Promise<ServedVehicles>,
): (call: Call) => Promise<ServedVehicles> {
  return async (call) => {
    const all = await served(call);
    const owner = ownerIn(call);
    if (!TAGS.has(call.operation.tag) || owner === undefined) return all;
    const books = await Books.read(parts, owner);
    const isNaming = call.operation.tag === 'Monitors' && namesSignal(call);
    // Without a registry the fleet has all cars, and callers have no owners.
    const owners = ownersIn(call) === undefined ? undefined : [owner];
    const opened = async (view: VehicleView | undefined): Promise<VehicleView | undefined> => {
      if (view === undefined) return undefined;
      const { vin } = view.vehicle;
      const remotes = await books.remotes(vin, call);
      const signals = isNaming ? await signalsOfCar(parts.reader, vin) : noSignals;
      return { ...view, monitors: books.monitors(signals, vin), callbacks: books.callbacks, remotes };
    };
    const ofAll = isNaming ? await signalsOfCars(parts.reader, owners) : noSignals;
    return {
      ...all,
      byId: async (id) => opened(await all.byId(id)),
      byVin: async (vin) => opened(await all.byVin(vin)),
      unnamed: { ...all.unnamed, monitors: books.monitors(ofAll), callbacks: books.callbacks },
    };
  };
}

/** Returns the owner: a fleet from the path, or a user from the token. */
function ownerIn({ operation, path, caller }: Call): Owner | undefined {
  if (operation.side === 'user') return { kind: 'user', id: caller.name };
  const { fid } = path;
  return fid === undefined ? undefined : { kind: 'fleet', id: fid };
}

/** State at the time of the request. Changes that the request makes are in the database before the response is sent. */
class Books {
  readonly #parts: HubBooksParts;
  readonly #owner: Owner;
  readonly #monitors: ReadonlyMap<string, OwnedMonitor>;
  readonly #callbacks: ReadonlyMap<string, OwnedCallback>;

  private constructor(
    parts: HubBooksParts,
    owner: Owner,
    monitors: readonly OwnedMonitor[],
    callbacks: readonly OwnedCallback[],
  ) {
    this.#parts = parts;
    this.#owner = owner;
    this.#monitors = new Map(monitors.map((one) => [one.monitor.monitorId, one]));
    this.#callbacks = new Map(callbacks.map((one) => [one.callback.callbackId, one]));
  }

  static async read(parts: HubBooksParts, owner: Owner): Promise<Books> {
    const { store } = parts;
    return new Books(parts, owner, await store.monitorsOf(owner), await store.callbacksOf(owner));
  }

  /** Monitors of the vehicle with this VIN. If omitted, monitors of all vehicles of the owner. */
  monitors(signals: SignalRules, vin?: string): MonitorBook {
    const all = [...this.#monitors.values()].filter((one) => vin === undefined || concerns(one, vin));
    return {
      signals,
      all: all.map(({ monitor }) => monitor),
      get: (id) => all.find(({ monitor }) => monitor.monitorId === id)?.monitor,
      put: (id, input, status) => this.#put(id, input, { status, vin, signals }),
      setStatus: async (id, status) => {
        const before = this.#monitors.get(id);
        if (before === undefined) {
          throw new VigieError('input.unknown', `there is no monitor ${id}`, { where: 'monitorId' });
        }
        if (before.monitor.status === status) return before.monitor;
        return this.#keep({ ...before, monitor: { ...before.monitor, status, updatedAt: this.#now() } });
      },
      remove: (id) => this.#changing(this.#parts.store.removeMonitor(this.#owner, id)),
    };
  }

  readonly callbacks: CallbackBook = {
    list: (side) => [...this.#callbacks.values()].map(({ callback }) => callback).filter((one) => one.side === side),
    get: (id) => this.#callbacks.get(id)?.callback,
    put: async (side, id, input) => {
      const { notifier } = this.#parts;
      const before = this.#callbacks.get(id)?.callback;
      return this.#keepCallback(
        defineCallback({ side, id, input }, { notifier, before, count: this.#callbacks.size, now: this.#now() }),
      );
    },
    setStatus: async (id, status) => {
      const before = this.#callbacks.get(id)?.callback;
      if (before === undefined) throw unknownCallback(id);
      if (before.status === status) return before;
      return this.#keepCallback({ ...before, status, updatedAt: this.#now() });
    },
    remove: (id) => this.#changing(this.#parts.store.removeCallback(this.#owner, id)),
    checkMonitor: (side, parameter) => {
      const { notifier } = this.#parts;
      checkMonitorDelivery(side, parameter, { notifier, get: (id) => this.#callbacks.get(id)?.callback });
    },
  };

  /** Commands to one vehicle that are sent through the callback of the call. */
  async remotes(vin: string, { path, caller, operation }: Call): Promise<RemoteBook> {
    const { store, submit, newId } = this.#parts.commands;
    const { cbid, rid } = path;
    const owner = this.#owner;
    const isAsked = operation.tag === 'Remotes' && cbid !== undefined && this.#callbacks.has(cbid);
    const sent = isAsked ? (await store.throughCallback(vin, cbid, rid)).map((one) => actionOf(one, cbid)) : [];
    return {
      all: (callbackId) => (callbackId === cbid ? sent : []),
      get: (id) => sent.find(({ remoteActionId }) => remoteActionId === id),
      submit: async ({ id = newId(), callbackId = '', type, body, remote }) => {
        const { callbackId: _, ...contents } = commandOriginOf(callbackId, remote);
        const through = { owner, callbackId, remote, contents };
        const kept = await submit({ id, vin, type, body, caller: caller.name, through });
        return { remoteActionId: kept.id };
      },
    };
  }

  /** Stores a monitor, as `Monitors.put` of the car does. @throws VigieError `input.malformed`, `input.unknown` */
  async #put(id: string, input: unknown, { status, vin, signals }: MonitorTarget): Promise<Monitor> {
    if (!new RegExp(monitorIdPattern).test(id)) {
      throw new VigieError('input.malformed', `must match ${monitorIdPattern}`, { where: 'monitorId' });
    }
    const { parameter } = compileMonitor(input, signals);
    const before = this.#monitors.get(id);
    if (before === undefined && this.#monitors.size >= MONITORS) {
      throw new VigieError('input.malformed', `there are ${MONITORS} monitors already: remove one`, {
        where: 'monitors',
      });
    }
    const now = this.#now();
    const { callbackId } = readDelivery(parameter.delivery);
    const only = vin ?? before?.vin;
    return this.#keep({
      owner: this.#owner,
      ...defined({ vin: only, callbackId }),
      monitor: {
        createdAt: before?.monitor.createdAt ?? now,
        monitorId: id,
        updatedAt: now,
        status: status ?? before?.monitor.status ?? 'Running',
        monitor: parameter,
      },
    });
  }

  async #keep(one: OwnedMonitor): Promise<Monitor> {
    await this.#changing(this.#parts.store.putMonitor(one));
    return one.monitor;
  }

  async #keepCallback(callback: Callback): Promise<Callback> {
    await this.#parts.store.putCallback({ owner: this.#owner, callback });
    return callback;
  }

  async #changing<T>(change: Promise<T>): Promise<T> {
    const result = await change;
    this.#parts.changed();
    return result;
  }

  #now(): number {
    return Math.round(this.#parts.clock.now());
  }
}

/** Converts a command. It is `Accepted` until the car reports a state: the published interface has no earlier one. */
function actionOf({ id, type, remote, requested, states }: CallbackCommand, callbackId: string): RemoteAction {
  const { status = 'Accepted', failureCause } = states.at(-1) ?? {};
  return {
    remoteActionId: id,
    callbackId,
    type: type as RemoteType,
    remote,
    status,
    createdAt: requested,
    ...defined({ failureCause }),
  };
}

/** Returns true if the monitor applies to the vehicle. A user sets monitors for one vehicle, a fleet for one or all. */
function concerns({ vin }: OwnedMonitor, one: string): boolean {
  return vin === undefined || vin === one;
}
