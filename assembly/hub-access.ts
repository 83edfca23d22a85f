/** Who may see which cars of a hub: those of the caller's fleets, or the caller's own. */
import { join } from 'node:path';
import type { Gate } from '../adapters/http/access/credentials.ts';
import { HubGate } from '../adapters/http/access/hub.ts';
import type { Call, Handlers } from '../adapters/http/call.ts';
import type { ServedVehicles, VehicleRecord } from '../adapters/http/resources/car.ts';
import { unknown } from '../adapters/http/resources/context.ts';
import type { Clock, Log } from '../agent/ports.ts';
import type { Owner } from '../hub/registry.ts';
import type { RegistryState, RegistryStates } from '../hub/registry-state.ts';
import type { Side } from '../protocol/interface/operation.ts';

/** File in the directory of keys that tokens are signed with. */
export const tokenKeyFile = (keys: string): string => join(keys, 'tokens.pem');

export interface HubGatesParts {
  readonly states: RegistryStates;
  /** Directory of keys. */
  readonly keys: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Rejects as the {@link HubGate} does. */
export function hubGates({ states, keys, clock, log }: HubGatesParts): Readonly<Record<Side, Gate>> {
  const inUse = async (): Promise<boolean> => (await states.current()).inUse;
  const of = (side: Side): Gate => new HubGate({ side, inUse, keyFile: tokenKeyFile(keys), clock, log });
  return { fleet: of('fleet'), user: of('user') };
}

/** Cars that a call may see and name; undefined: all. */
function visibleIn(state: RegistryState, { caller, operation, path }: Call): ReadonlySet<string> | undefined {
  const { fleets, user } = caller;
  if (fleets === undefined && user === undefined) return undefined;
  const owners: Owner[] = [
    ...(operation.side === 'user' ? [] : [...(fleets ?? [])].filter((id) => (path['fid'] ?? id) === id)).map(
      (id) => ({ kind: 'fleet', id }) as const,
    ),
    ...(user === undefined ? [] : [{ kind: 'user', id: user } as const]),
  ];
  const [only] = owners;
  if (owners.length === 1) return state.carsOf(only as Owner);
  return new Set(owners.flatMap((owner) => [...state.carsOf(owner)]));
}

/** Cars that calls may see; undefined: all. */
export function visibleCars(states: RegistryStates): (call: Call) => Promise<ReadonlySet<string> | undefined> {
  return async (call) => visibleIn(await states.current(), call);
}

/** Handlers of operations with a `{vin}` in their path: a car that the caller may not see is not there. */
export function seeingOnly(
  visible: (call: Call) => Promise<ReadonlySet<string> | undefined>,
  handlers: Handlers,
): Handlers {
  const guarded = Object.entries(handlers).map(([id, handler]): [string, Handlers[string]] => [
    id,
    async (call) => {
      const { vin } = call.path;
      if (vin !== undefined && (await visible(call))?.has(vin) === false) throw unknown('vehicle', vin);
      return handler(call);
    },
  ]);
  return Object.fromEntries(guarded);
}

/** Of all vehicles those that a call may see, in the fleets of the registry. */
export function servedTo(states: RegistryStates, all: ServedVehicles): (call: Call) => Promise<ServedVehicles> {
  return async (call) => {
    const state = await states.current();
    const visible = visibleIn(state, call);
    if (visible === undefined) return all;
    const { fleets } = state;
    // Lists of all cars are not those of the caller.
    const { vehicleKeys: _, ...rest } = all;
    return {
      ...rest,
      fleets: fleets.map(({ id, created }) => ({ id, createdAt: created })),
      all: async () => (await all.all()).filter(({ vehicle }) => visible.has(vehicle.vin)),
      byVin: async (vin) => (visible.has(vin) ? all.byVin(vin) : undefined),
      byId: async (id) => {
        const found = await all.byId(id);
        return found !== undefined && visible.has(found.vehicle.vin) ? found : undefined;
      },
      async *records(collection, from): AsyncGenerator<VehicleRecord, void> {
        for await (const record of all.records(collection, from)) {
          if (visible.has(record.outline.vehicle.vin)) yield record;
        }
      },
      record: async (collection, id) => {
        const found = await all.record(collection, id);
        return found !== undefined && visible.has(found.outline.vehicle.vin) ? found : undefined;
      },
    };
  };
}
