/** One request, with what all resources need to answer it. */
import { VigieError } from '../../../protocol/errors.ts';
import type { Viewer } from '../../../protocol/interface/json/viewer.ts';
import type { Side } from '../../../protocol/interface/operation.ts';
import type { Scope } from '../../../protocol/interface/operations/scopes.ts';
import { covers, type Period } from '../../../protocol/interface/parameters.ts';
import type { Answer, Call } from '../call.ts';
import type { PageTokens } from '../paging.ts';
import type { CarView, FleetDescription } from './car.ts';
import { ownerOfFleet } from './owners.ts';

export interface Context {
  readonly car: CarView;
  readonly call: Call;
  readonly tokens: PageTokens;
  readonly side: Side;
  /** The fleet that is asked for. */
  readonly fleet: FleetDescription | undefined;
  /** Whose callbacks and monitors the request is about. */
  readonly owner: string;
  /** Whom resources are written for. */
  readonly viewer: Viewer;
  /** The caller may see what the scope stands for. */
  sees(scope: Scope): boolean;
}

/** Answers requests of one operation. */
export type Resource = (context: Context) => Answer | Promise<Answer>;

/** @throws VigieError `request.unknown` when the car is not in the fleet that is asked for, or is another one */
export function contextOf(car: CarView, call: Call, tokens: PageTokens): Context {
  const { operation, path, caller, query } = call;
  const { side } = operation;
  const { fid, vid, id, vin } = path;
  const fleets = fleetsOf(car, call);
  const fleet = fid === undefined ? undefined : fleets.find((one) => one.id === fid);
  if (fid !== undefined && fleet === undefined) throw unknown('fleet', fid);
  const vehicle = vid ?? id;
  if (vehicle !== undefined && vehicle !== car.vehicle.id) throw unknown('vehicle', vehicle);
  if (vin !== undefined && (vin !== car.vehicle.vin || fleets.length === 0)) throw unknown('vehicle', vin);
  const { scopes } = caller;
  const sees = (scope: Scope): boolean => side === 'fleet' || scopes === undefined || scopes.has(scope);
  return {
    car,
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

/** The fleets that the caller works with. */
export function fleetsOf({ fleets }: CarView, { caller }: Call): readonly FleetDescription[] {
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
