/** The user of the car. */
import { defined } from '../../../protocol/defined.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import { PAGE } from '../../../protocol/interface/parameters/query.ts';
import type { Answer } from '../call.ts';
import { type Context, contextIn, found } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';
import { vehicleOf } from './vehicles.ts';

/**
 * `GET /user`. The interface document calls the list `Vehicles`, the published service sends `vehicles`: the response
 * has both, each with one page of vehicles; the link refers to all.
 */
export async function user(context: Context): Promise<Answer> {
  const { served, call } = context;
  const { email, firstName, lastName } = served.user(call.caller);
  const vehicles = linkTo(context, 'vehicles.list') === undefined ? undefined : await vehiclesOf(context);
  return found({
    _links: linksOf({
      self: selfOf(context),
      vehicles: linkTo(context, 'vehicles.list'),
      // An extension of the published interface.
      callbacks: linkTo(context, 'callbacks.list'),
    }),
    ...defined({ email, firstName, lastName }),
    ...(vehicles === undefined ? {} : { _embedded: { Vehicles: vehicles, vehicles } }),
  });
}

async function vehiclesOf(context: Context): Promise<Members[]> {
  const written: Members[] = [];
  const { vehicles } = context.served;
  const listed = typeof vehicles === 'function' ? await vehicles('').read({}, PAGE) : vehicles;
  for (const { outline } of listed.slice(0, PAGE)) {
    const one = await contextIn(context, outline);
    written.push(await vehicleOf(one, linkTo(one, 'vehicles.get') as ResourceLink));
  }
  return written;
}
