/** Current position of the car. */
import { presentPosition } from '../../../agent/model/position.ts';
import { positionJson } from '../../../protocol/interface/json/position.ts';
import type { Answer } from '../call.ts';
import { type Context, found, unknown } from './context.ts';

/** `GET …/lastPosition` */
export function lastPosition(context: Context): Answer {
  const place = presentPosition(context.car.status);
  const seen = place && positionJson(context.viewer, place);
  if (seen === undefined) throw unknown('known position of vehicle', context.car.vehicle.id);
  return found(seen);
}

/** Returns true if {@link lastPosition} has a position to return. */
export function hasPosition(context: Context): boolean {
  return context.sees('data:position') && presentPosition(context.car.status) !== undefined;
}
