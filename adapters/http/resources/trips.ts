/** Trips of the car. */
import { defined } from '../../../protocol/defined.ts';
import { tripJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { RecordFilter } from '../../../protocol/interface/record-filter.ts';
import type { Trip } from '../../../protocol/schema/trip.ts';
import type { Answer } from '../call.ts';
import { collectionOfRecords, recordOf } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';

/** `GET …/trips` of a vehicle, and of a fleet (deprecated), filtered by start and duration. */
export function trips(context: Context): Promise<Answer> {
  const { distance, duration, states } = context.call.query as RecordFilter;
  return collectionOfRecords<Trip>(context, {
    collection: 'trip',
    name: 'trips',
    scope: 'data:trip',
    filter: defined({ distance, duration, states }),
    present: (record, car) => car.present(record),
    represent: (record, own) => tripOf(own, record, linkTo(own, 'trips.get', { tid: record.id }) as ResourceLink),
  });
}

/** `GET …/trips/{tid}` */
export async function trip(context: Context): Promise<Answer> {
  return found(tripOf(context, await tripAskedFor(context), selfOf(context)));
}

/** Returns the trip in the path. @throws VigieError `request.unknown` */
export async function tripAskedFor(context: Context): Promise<Trip> {
  const id = context.call.path['tid'] ?? '';
  const found = await recordOf<Trip>(context, 'trip', id);
  if (found === undefined) throw unknown('trip', id);
  return context.car.present(found);
}

/** Returns the link to a trip, or undefined if the trip is no longer stored. */
export async function linkToTrip(context: Context, id: string | undefined): Promise<ResourceLink | undefined> {
  if (id === undefined || (await recordOf(context, 'trip', id)) === undefined) return undefined;
  return linkTo(context, 'trips.get', { tid: id });
}

function tripOf(context: Context, record: Trip, self: ResourceLink): Members {
  if (!context.sees('data:trip')) throw unknown('trip', record.id);
  const tid = { tid: record.id };
  return {
    _links: linksOf({
      self,
      vehicle: linkTo(context, 'vehicles.get'),
      waypoints: linkTo(context, 'tripWaypoints.list', tid),
      alerts: linkTo(context, 'tripAlerts.list', tid),
      collisions: linkTo(context, 'tripCollisions.list', tid),
      telemetry: linkTo(context, 'tripTelemetry.list', tid),
    }),
    ...tripJson(context.viewer, record),
  };
}
