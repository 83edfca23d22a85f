/** Thefts of the car, and where it was meanwhile; the fleet line has them. */
import { theftJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { Theft } from '../../../protocol/schema/theft.ts';
import type { Answer } from '../call.ts';
import { collection, collectionByKey, type Kept, keysOf, recordOf, recordsAskedFor } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';
import { waypointsBetween } from './waypoints.ts';

/** `GET …/stolen` */
export async function thefts(context: Context): Promise<Answer> {
  const represent = ({ record }: Kept<Theft>): Members =>
    theftOf(context, record, linkTo(context, 'stolen.get', { sid: record.id }) as ResourceLink);
  const keys = keysOf<Theft>(context, 'stolen');
  if (keys !== undefined) return collectionByKey(context, 'stolen', keys, represent);
  const asked = await recordsAskedFor<Theft>(context, 'stolen', ({ startedAt }) => startedAt);
  return collection(context, 'stolen', asked, represent);
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
