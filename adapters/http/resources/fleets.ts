/** Fleets of the car. */
import { defined } from '../../../protocol/defined.ts';
import { dateTime } from '../../../protocol/interface/json/date-time.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { Answer } from '../call.ts';
import type { FleetDescription } from './car.ts';
import { collection } from './collection.ts';
import { type Context, fleetsOf, found } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';

/** `GET /fleets`: the caller's fleets. */
export function fleets(context: Context): Promise<Answer> {
  const items = fleetsOf(context.served, context.call)
    .map((fleet) => ({ at: fleet.createdAt ?? 0, id: fleet.id, fleet }))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return collection(context, 'fleets', items, ({ fleet }) => {
    return fleetOf(context, fleet, linkTo(context, 'fleets.get', { fid: fleet.id }) as ResourceLink);
  });
}

/** `GET /fleets/{fid}` */
export function fleet(context: Context): Answer {
  return found(fleetOf(context, context.fleet as FleetDescription, selfOf(context)));
}

function fleetOf(context: Context, fleet: FleetDescription, self: ResourceLink): Members {
  const { id, name, description, createdAt, updatedAt } = fleet;
  const to = (operation: string) => linkTo(context, operation, { fid: id });
  return {
    _links: linksOf({
      self,
      vehicles: to('vehicles.list'),
      status: to('fleetStatus.list'),
      maintenances: to('fleetMaintenances.list'),
      alerts: to('fleetAlerts.list'),
      trips: to('fleetTrips.list'),
      collisions: to('fleetCollisions.list'),
      monitors: to('monitors.list'),
      callbacks: to('callbacks.list'),
    }),
    id,
    ...defined({ name, description }),
    ...(createdAt === undefined ? {} : { createdAt: dateTime(createdAt) }),
    ...(updatedAt === undefined ? {} : { updatedAt: dateTime(updatedAt) }),
  };
}
