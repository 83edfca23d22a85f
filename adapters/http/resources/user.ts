/** The user whose car it is. */
import type { Answer } from '../call.ts';
import { type Context, contextsOf, found } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';
import { vehicleOf } from './vehicles.ts';

/** `GET /user`. The published name of the list is `Vehicles`, the service writes `vehicles`: both are there. */
export function user(context: Context): Answer {
  const { served, call } = context;
  const { email, firstName, lastName } = served.user(call.caller);
  const vehicles =
    linkTo(context, 'vehicles.get') === undefined
      ? undefined
      : contextsOf(context).map((one) => vehicleOf(one, linkTo(one, 'vehicles.get') as ResourceLink));
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
