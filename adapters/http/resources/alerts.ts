/** Warnings of the car. */
import { alertJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { RecordFilter } from '../../../protocol/interface/record-filter.ts';
import type { Alert } from '../../../protocol/schema/alert.ts';
import type { Answer } from '../call.ts';
import { collectionOfRecords, findRecord } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';
import { hasPosition } from './positions.ts';
import { linkToTrip, tripAskedFor } from './trips.ts';

/** `GET …/alerts` of a vehicle, of a fleet (deprecated) and of a trip; `one` is the operation that reads one alert. */
export function alerts(one: string): (context: Context) => Promise<Answer> {
  return async (context) =>
    collectionOfRecords<Alert>(context, {
      collection: 'alert',
      name: 'alerts',
      scope: 'data:alert',
      filter: await tripFilter(context),
      represent: (record, own) => alertOf(own, record, linkTo(own, one, { aid: record.id }) as ResourceLink),
    });
}

/** `GET …/alerts/{aid}` of a vehicle, of a fleet (deprecated) and of a trip. */
export async function alert(context: Context): Promise<Answer> {
  const id = context.call.path['aid'] ?? '';
  const { trip } = await tripFilter(context);
  const kept = context.sees('data:alert') ? await findRecord<Alert>(context, 'alert', id) : undefined;
  if (kept === undefined || (trip !== undefined && kept.record.tid !== trip)) throw unknown('alert', id);
  return found(await alertOf(kept.context, kept.record, selfOf(context)));
}

/** Returns the filter for the trip in the path, if the path has a trip. */
export async function tripFilter(context: Context): Promise<Pick<RecordFilter, 'trip'>> {
  return context.call.path['tid'] === undefined ? {} : { trip: (await tripAskedFor(context)).id };
}

async function alertOf(context: Context, record: Alert, self: ResourceLink): Promise<Members> {
  const trip = await linkToTrip(context, record.tid);
  return {
    _links: linksOf({
      self,
      vehicle: linkTo(context, 'vehicles.get'),
      position: hasPosition(context) ? linkTo(context, 'lastPosition.get') : undefined,
      trips: trip && [trip],
    }),
    ...alertJson(context.viewer, record),
  };
}
