/** Access control for cars: a caller sees the cars of its fleets, or its own cars. */
import { randomUUID } from 'node:crypto';
import type { Gate } from '../../adapters/http/access/credentials.ts';
import type { EnergyClient } from '../../adapters/http/access/user.ts';
import type { Call, Handlers } from '../../adapters/http/call.ts';
import type { ServedVehicles } from '../../adapters/http/resources/car.ts';
import { unknown } from '../../adapters/http/resources/context.ts';
import { tagIn, tagOf } from '../../adapters/http/resources/owners.ts';
import type { Clock } from '../../agent/ports.ts';
import type { Side } from '../../protocol/interface/operation.ts';
import type { FleetEvent } from '../../protocol/interface/own/hub-overview.ts';
import { seenEvent, seesOf } from '../../protocol/interface/visible-members.ts';
import type { Owner, Registry } from '../core/registry.ts';
import type { RegistryState, RegistryStates } from '../core/registry-state.ts';
import { HubGate, signToken, type TokenGrant, type TokenKeys } from '../http/access.ts';
import type { ServedTo } from './vehicles.ts';

/**
 * Issues a token: signs it and stores it. A hub admits only tokens in its database. Rejects as {@link signToken} does,
 * and with `store.failed`.
 */
export async function issueAccess(
  keys: Pick<TokenKeys, 'signer'>,
  registry: Pick<Registry, 'addToken'>,
  grant: Omit<TokenGrant, 'id'>,
): Promise<string> {
  const issued = { ...grant, id: randomUUID() };
  const token = await signToken(await keys.signer(), issued);
  await registry.addToken(issued);
  return token;
}

interface HubGatesParts {
  readonly states: RegistryStates;
  readonly keys: TokenKeys;
  readonly clients?: readonly EnergyClient[] | undefined;
  readonly clock: Clock;
}

/** Creates the gates of the fleet and user sides of the interface. */
export function hubGates({ states, keys, clients, clock }: HubGatesParts): Readonly<Record<Side, Gate>> {
  const inUse = async (): Promise<boolean> => (await states.current()).inUse;
  const isIssued = async (id: string): Promise<boolean> => (await states.current()).isIssued(id);
  const of = (side: Side): Gate => new HubGate({ side, inUse, isIssued, keys: keys.verifier, clients, clock });
  return { fleet: of('fleet'), user: of('user') };
}

/** Returns the owners of the cars that a call may see; undefined for all cars. */
export function ownersIn({ caller, operation, path }: Call): readonly Owner[] | undefined {
  const { fleets, user } = caller;
  if (fleets === undefined && user === undefined) return undefined;
  const named = operation.side === 'user' ? [] : [...(fleets ?? [])].filter((id) => (path['fid'] ?? id) === id);
  return [
    ...named.map((id) => ({ kind: 'fleet', id }) as const),
    ...(user === undefined ? [] : [{ kind: 'user', id: user } as const]),
  ];
}

/**
 * Returns a filter for the events that a call may see. The id of a monitor contains its owner, and only the owner sees
 * events of the monitor. Monitors that a command created in the car have no owner; fleets see their events.
 */
export function eventsSeenBy(call: Call): (event: FleetEvent) => FleetEvent | undefined {
  const owners = ownersIn(call);
  if (owners === undefined) return (event) => event;
  const tags = new Set(owners.map(({ kind, id }) => tagOf(`${kind}:${id}`)));
  const isFleet = owners.some(({ kind }) => kind === 'fleet');
  const sees = seesOf(call.caller);
  return (event) => {
    const tag = event.kind === 'event' ? tagIn(String(event.body['monitorId'])) : undefined;
    const isCallers = event.kind !== 'event' || (tag === undefined ? isFleet : tags.has(tag));
    return isCallers ? seenEvent(sees, event) : undefined;
  };
}

/** Returns the cars that a call may see, and may name in a request; undefined for all. */
function visibleIn(state: RegistryState, call: Call): ReadonlySet<string> | undefined {
  const owners = ownersIn(call);
  if (owners === undefined) return undefined;
  // This matters for open streams: the token may have been withdrawn meanwhile.
  const { token } = call.caller;
  if (token !== undefined && !state.isIssued(token)) return new Set();
  const [only] = owners;
  if (owners.length === 1) return state.carsOf(only as Owner);
  return new Set(owners.flatMap((owner) => [...state.carsOf(owner)]));
}

/** Returns a function that resolves with the cars that a call may see; undefined for all. */
export function visibleCars(states: RegistryStates): (call: Call) => Promise<ReadonlySet<string> | undefined> {
  return async (call) => visibleIn(await states.current(), call);
}

/** Wraps handlers of paths with `{vin}`. The handlers then report a car that the caller may not see as unknown. */
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

/** Returns the vehicles that a call may see, according to the fleets of the registry. */
export function servedTo(
  states: RegistryStates,
  served: (to?: ServedTo) => ServedVehicles,
): (call: Call) => Promise<ServedVehicles> {
  return async (call) => {
    const state = await states.current();
    const owners = ownersIn(call);
    if (owners === undefined) return served();
    return served({
      owners,
      fleets: state.fleets.map(({ id, created }) => ({ id, createdAt: created })),
      includes: (vin) => owners.some((owner) => state.carsOf(owner).has(vin)),
    });
  };
}
