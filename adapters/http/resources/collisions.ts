/** Collisions of the car. */
import { collisionJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { Collision } from '../../../protocol/schema/collision.ts';
import type { Answer } from '../call.ts';
import { tripFilter } from './alerts.ts';
import {
  collection,
  collectionByKey,
  contextOfKept,
  findRecord,
  type Kept,
  keysOf,
  recordsAskedFor,
} from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';
import { linkToTrip } from './trips.ts';

/**
 * `GET …/collisions` of a vehicle, of a fleet (deprecated) and of a trip; `one` is the operation that reads one of
 * them.
 */
export function collisions(one: string): (context: Context) => Promise<Answer> {
  return async (context) => {
    const represent = async (kept: Kept<Collision>): Promise<Members> => {
      const { record } = kept;
      const own = await contextOfKept(context, kept);
      return collisionOf(own, record, linkTo(own, one, { cid: record.id }) as ResourceLink);
    };
    const isWhole = context.call.path['tid'] === undefined && context.sees('data:collision');
    const keys = isWhole ? keysOf<Collision>(context, 'collision') : undefined;
    // The capital is published.
    if (keys !== undefined) return collectionByKey(context, 'Collisions', keys, represent);
    const isOf = await tripFilter(context);
    const asked = context.sees('data:collision')
      ? (await recordsAskedFor<Collision>(context, 'collision')).filter(({ record }) => isOf(record))
      : [];
    return collection(context, 'Collisions', asked, represent);
  };
}

/** `GET …/collisions/{cid}` */
export async function collision(context: Context): Promise<Answer> {
  const id = context.call.path['cid'] ?? '';
  const isOf = await tripFilter(context);
  const kept = context.sees('data:collision') ? await findRecord<Collision>(context, 'collision', id) : undefined;
  if (kept === undefined || !isOf(kept.record)) throw unknown('collision', id);
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
