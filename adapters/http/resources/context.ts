/** One request, with what all resources need to answer it. */
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
  /** All that the interface serves. */
  readonly served: ServedVehicles;
  readonly call: Call;
  readonly tokens: PageTokens;
  readonly side: Side;
  /** Requested fleet. */
  readonly fleet: FleetDescription | undefined;
  /** Owner of the callbacks and monitors of the request. */
  readonly owner: string;
  /** Reader for whom resources are written. */
  readonly viewer: Viewer;
  /** The caller may see what the scope stands for. */
  readonly sees: Sees;
}

/** Answers requests of one operation. */
export type Resource = (context: Context) => Answer | Promise<Answer>;

/** @throws VigieError `request.unknown` for a fleet that the caller does not work with, and for another vehicle */
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
      // A fleet that asks for `profile=endUser` sees what its users see.
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

/** Whether a request is about the vehicle that its path names, else it is about all. */
export function namesVehicle({ path }: Call): boolean {
  return (path['vid'] ?? path['id'] ?? path['vin']) !== undefined;
}

/** The request, about one of the vehicles that it is about. */
export async function contextIn(context: Context, outline: VehicleOutline): Promise<Context> {
  const car = await outline.open();
  return car === context.car ? context : { ...context, car, viewer: { ...context.viewer, vehicle: car.vehicle } };
}

/** The fleets that the caller works with. */
export function fleetsOf({ fleets }: ServedVehicles, { caller }: Call): readonly FleetDescription[] {
  return fleets.filter(({ id }) => caller.fleets === undefined || caller.fleets.has(id));
}

/** That there is nothing of this kind with this id. */
export function unknown(what: string, id: string): VigieError {
  return new VigieError('request.unknown', `there is no ${what} ${JSON.stringify(id)} here`);
}

/** Whether `timestamps` asks for what happened at `at`, UTC ms. */
export function isAskedFor({ call }: Context, at: number): boolean {
  const periods = periodsOf(call);
  return periods === undefined || covers(periods, at);
}

/** The periods of `timestamps`, ascending; undefined: all time. */
export function periodsOf({ query }: Call): readonly Period[] | undefined {
  return query['timestamps'] as readonly Period[] | undefined;
}

/** 200 with a body. */
export function found(body: unknown): Answer {
  return { status: 200, body };
}
