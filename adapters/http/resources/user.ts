/** The user whose car it is. */
import type { Answer } from '../call.ts';
import { type Context, found } from './context.ts';
import { linksOf, linkTo, selfOf } from './links.ts';
import { vehicleOf } from './vehicles.ts';

/** `GET /user`. The published name of the list is `Vehicles`, the service writes `vehicles`: both are there. */
export function user(context: Context): Answer {
  const { car, call } = context;
  const { email, firstName, lastName } = car.user(call.caller);
  const itself = linkTo(context, 'vehicles.get');
  const vehicles = itself === undefined ? undefined : [vehicleOf(context, itself)];
  return found({
    _links: linksOf({
      self: selfOf(context),
      vehicles: linkTo(context, 'vehicles.list'),
      // An addition.
      callbacks: linkTo(context, 'callbacks.list'),
    }),
    ...(email === undefined ? {} : { email }),
    ...(firstName === undefined ? {} : { firstName }),
    ...(lastName === undefined ? {} : { lastName }),
    ...(vehicles === undefined ? {} : { _embedded: { Vehicles: vehicles, vehicles } }),
  });
}
