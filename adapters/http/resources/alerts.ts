/** Warnings of the car. */
import { alertJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { Alert } from '../../../protocol/schema/alert.ts';
import type { Answer } from '../call.ts';
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
import { hasPosition } from './positions.ts';
import { linkToTrip, tripAskedFor } from './trips.ts';

/** `GET …/alerts` of a vehicle, of a fleet (deprecated) and of a trip; `one` is the operation that reads one of them. */
export function alerts(one: string): (context: Context) => Promise<Answer> {
  return async (context) => {
    const represent = async (kept: Kept<Alert>): Promise<Members> => {
      const { record } = kept;
      const own = await contextOfKept(context, kept);
      return alertOf(own, record, linkTo(own, one, { aid: record.id }) as ResourceLink);
    };
    const isWhole = context.call.path['tid'] === undefined && context.sees('data:alert');
    const keys = isWhole ? keysOf<Alert>(context, 'alert') : undefined;
    if (keys !== undefined) return collectionByKey(context, 'alerts', keys, represent);
    const isOf = await tripFilter(context);
    const asked = context.sees('data:alert')
      ? (await recordsAskedFor<Alert>(context, 'alert', ({ startedAt }) => startedAt)).filter(({ record }) =>
          isOf(record),
        )
      : [];
    return collection(context, 'alerts', asked, represent);
  };
}

/** `GET …/alerts/{aid}` of a vehicle, of a fleet (deprecated) and of a trip. */
export async function alert(context: Context): Promise<Answer> {
  const id = context.call.path['aid'] ?? '';
  const isOf = await tripFilter(context);
  const kept = context.sees('data:alert') ? await findRecord<Alert>(context, 'alert', id) : undefined;
  if (kept === undefined || !isOf(kept.record)) throw unknown('alert', id);
  return found(await alertOf(kept.context, kept.record, selfOf(context)));
}

/** Whether a record is of the trip in the path, if there is one there. */
export async function tripFilter(context: Context): Promise<(record: { readonly tid?: string }) => boolean> {
  if (context.call.path['tid'] === undefined) return () => true;
  const { id } = await tripAskedFor(context);
  return ({ tid }) => tid === id;
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
