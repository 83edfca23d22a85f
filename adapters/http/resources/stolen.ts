/** Thefts of the car, and its positions during a theft. Only the fleet interface provides them. */
import { theftJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { Theft } from '../../../protocol/schema/theft.ts';
import type { Answer } from '../call.ts';
import { collectionOfRecords, recordOf } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';
import { waypointsBetween } from './waypoints.ts';

/** `GET …/stolen` */
export function thefts(context: Context): Promise<Answer> {
  return collectionOfRecords<Theft>(context, {
    collection: 'stolen',
    name: 'stolen',
    represent: (record, own) => theftOf(own, record, linkTo(own, 'stolen.get', { sid: record.id }) as ResourceLink),
  });
}

/** `GET …/stolen/{sid}` */
export async function theft(context: Context): Promise<Answer> {
  return found(theftOf(context, await theftAskedFor(context), selfOf(context)));
}

/** `GET …/stolen/{sid}/waypoints` */
export async function theftWaypoints(context: Context): Promise<Answer> {
  const { startedAt, endAt } = await theftAskedFor(context);
  return waypointsBetween(context, startedAt, endAt);
}

async function theftAskedFor(context: Context): Promise<Theft> {
  const id = context.call.path['sid'] ?? '';
  const record = await recordOf<Theft>(context, 'stolen', id);
  if (record === undefined) throw unknown('theft', id);
  return record;
}

function theftOf(context: Context, record: Theft, self: ResourceLink): Members {
  return {
    _links: linksOf({
      self,
      vehicle: linkTo(context, 'vehicles.get'),
      waypoints: linkTo(context, 'stolenWaypoints.list', { sid: record.id }),
    }),
    ...theftJson(context.viewer, record),
  };
}
