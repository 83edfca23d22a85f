/** Collisions of the car. */
import { collisionJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { Collision } from '../../../protocol/schema/collision.ts';
import type { Answer } from '../call.ts';
import { tripFilter } from './alerts.ts';
import { collectionOfRecords, findRecord } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';
import { linkToTrip } from './trips.ts';

/**
 * `GET …/collisions` of a vehicle, of a fleet (deprecated) and of a trip. @param one id of the operation that reads one
 * collision
 */
export function collisions(one: string): (context: Context) => Promise<Answer> {
  return async (context) =>
    collectionOfRecords<Collision>(context, {
      collection: 'collision',
      // Capitalised in the published interface.
      name: 'Collisions',
      scope: 'data:collision',
      filter: await tripFilter(context),
      represent: (record, own) => collisionOf(own, record, linkTo(own, one, { cid: record.id }) as ResourceLink),
    });
}

/** `GET …/collisions/{cid}` */
export async function collision(context: Context): Promise<Answer> {
  const id = context.call.path['cid'] ?? '';
  const { trip } = await tripFilter(context);
  const kept = context.sees('data:collision') ? await findRecord<Collision>(context, 'collision', id) : undefined;
  if (kept === undefined || (trip !== undefined && kept.record.tid !== trip)) throw unknown('collision', id);
  return found(await collisionOf(kept.context, kept.record, selfOf(context)));
}

async function collisionOf(context: Context, record: Collision, self: ResourceLink): Promise<Members> {
  return {
    _links: linksOf({
      self,
      vehicle: linkTo(context, 'vehicles.get'),
      trip: await linkToTrip(context, record.tid),
    }),
    ...collisionJson(context.viewer, record),
  };
}
