/** One request, with all that resources need to respond to it. */
import { VigieError } from '../../../protocol/errors.ts';
import type { Viewer } from '../../../protocol/interface/json/viewer.ts';
import type { Side } from '../../../protocol/interface/operation.ts';
import { covers, type Period } from '../../../protocol/interface/parameters.ts';
import { type Sees, seesOf } from '../../../protocol/interface/visible-members.ts';
import type { Answer, Call } from '../call.ts';
import type { PageTokens } from '../paging.ts';
import type { FleetDescription, ServedVehicles, VehicleOutline, VehicleView } from './car.ts';
import { ownerOfFleet } from './owners.ts';

export interface Context {
  /** Requested vehicle. */
  readonly car: VehicleView;
  /** All vehicles that the interface serves. */
  readonly served: ServedVehicles;
  readonly call: Call;
  readonly tokens: PageTokens;
  readonly side: Side;
  /** Requested fleet. */
  readonly fleet: FleetDescription | undefined;
  /** Owner of the callbacks and monitors of the request. */
  readonly owner: string;
  /** The client for whom the response is written. */
  readonly viewer: Viewer;
  /** Returns true if the caller may read the data of the scope. */
  readonly sees: Sees;
}

/** Handles the requests of one operation. */
export type Resource = (context: Context) => Answer | Promise<Answer>;

/** @throws VigieError `request.unknown` if the path names another vehicle, or a fleet that the caller may not access */
export async function contextOf(served: ServedVehicles, call: Call, tokens: PageTokens): Promise<Context> {
  const { operation, path, caller, query } = call;
  const { side } = operation;
  const { fid } = path;
  const fleets = fleetsOf(served, call);
  const fleet = fid === undefined ? undefined : fleets.find((one) => one.id === fid);
  if (fid !== undefined && fleet === undefined) throw unknown('fleet', fid);
  const car = await vehicleIn(served, call, fleets);
  const sees = seesOf(caller);
  return {
    car,
    served,
    call,
    tokens,
    side,
    fleet,
    owner: fleet === undefined ? `user:${caller.name}` : ownerOfFleet(fleet.id),
    viewer: {
      side,
      vehicle: car.vehicle,
      positions: sees('data:position'),
      // With `profile=endUser` a fleet gets the data that its users get.
      aliases: side === 'user' || query['profile'] === 'endUser',
    },
    sees,
  };
}

async function vehicleIn(
  served: ServedVehicles,
  { path }: Call,
  fleets: readonly FleetDescription[],
): Promise<VehicleView> {
  const { vid, id, vin } = path;
  const vehicle = vid ?? id;
  if (vehicle === undefined && vin === undefined) return served.unnamed;
  const found = vehicle === undefined ? undefined : await served.byId(vehicle);
  if (vehicle !== undefined && found === undefined) throw unknown('vehicle', vehicle);
  if (vin === undefined) return found as VehicleView;
  const named = fleets.length === 0 ? undefined : await served.byVin(vin);
  if (named === undefined) throw unknown('vehicle', vin);
  return named;
}

/** Returns true if the path names a vehicle; otherwise the request concerns all vehicles. */
export function namesVehicle({ path }: Call): boolean {
  return (path['vid'] ?? path['id'] ?? path['vin']) !== undefined;
}

/** Returns the request, restricted to one of its vehicles. */
export async function contextIn(context: Context, outline: VehicleOutline): Promise<Context> {
  const car = await outline.open();
  return car === context.car ? context : { ...context, car, viewer: { ...context.viewer, vehicle: car.vehicle } };
}

/** Returns the caller's fleets. */
export function fleetsOf({ fleets }: ServedVehicles, { caller }: Call): readonly FleetDescription[] {
  return fleets.filter(({ id }) => caller.fleets === undefined || caller.fleets.has(id));
}

/** Returns the error for an id that no resource of this kind has. */
export function unknown(what: string, id: string): VigieError {
  return new VigieError('request.unknown', `there is no ${what} ${JSON.stringify(id)} here`);
}

/** Returns true if `timestamps` includes the time `at` in UTC ms. */
export function isAskedFor({ call }: Context, at: number): boolean {
  const periods = periodsOf(call);
  return periods === undefined || covers(periods, at);
}

/** Returns the periods of `timestamps`, ascending, or undefined for all time. */
export function periodsOf({ query }: Call): readonly Period[] | undefined {
  return query['timestamps'] as readonly Period[] | undefined;
}

/** Returns a response with status 200 and a body. */
export function found(body: unknown): Answer {
  return { status: 200, body };
}
