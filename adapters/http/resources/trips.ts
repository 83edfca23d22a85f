/** Trips of the car. */
import { tripJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { Range } from '../../../protocol/interface/parameters.ts';
import { type Trip, tripState } from '../../../protocol/schema/trip.ts';
import type { Answer } from '../call.ts';
import {
  collection,
  collectionByKey,
  contextOfKept,
  type Kept,
  keysOf,
  recordOf,
  recordsAskedFor,
} from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';

/** `GET …/trips` of a vehicle, and of a fleet (deprecated): those that begin when, and are as long, as is asked. */
export async function trips(context: Context): Promise<Answer> {
  const { query } = context.call;
  const distance = query['distance'] as Range | undefined;
  const duration = query['duration'] as Range | undefined;
  const states = query['states'] as readonly string[] | undefined;
  const represent = async (kept: Kept<Trip>): Promise<Members> => {
    const { record } = kept;
    const own = await contextOfKept(context, kept);
    return tripOf(own, record, linkTo(own, 'trips.get', { tid: record.id }) as ResourceLink);
  };
  const isWhole = [distance, duration, states].every((filter) => filter === undefined);
  const keys = isWhole && context.sees('data:trip') ? keysOf<Trip>(context, 'trip') : undefined;
  if (keys !== undefined) return collectionByKey(context, 'trips', keys, represent);
  const asked = context.sees('data:trip')
    ? (await recordsAskedFor<Trip>(context, 'trip', beginOf))
        .map((kept) => ({ ...kept, record: asItStands(kept.record, context.car.openTrip()) }))
        .filter(
          ({ record }) =>
            within(record.distance, distance) &&
            within(record.duration, duration) &&
            (states === undefined || (hasState(record) && states.includes(tripState(record)))),
        )
    : [];
  return collection(context, 'trips', asked, represent);
}

/** `GET …/trips/{tid}` */
export async function trip(context: Context): Promise<Answer> {
  return found(tripOf(context, await tripAskedFor(context), selfOf(context)));
}

/** The trip in the path. @throws VigieError `request.unknown` */
export async function tripAskedFor(context: Context): Promise<Trip> {
  const id = context.call.path['tid'] ?? '';
  const found = await recordOf<Trip>(context, 'trip', id);
  if (found === undefined) throw unknown('trip', id);
  return asItStands(found, context.car.openTrip());
}

/** The open trip now, where the record is how it began. */
function asItStands(record: Trip, open: Trip | undefined): Trip {
  return open?.id === record.id ? open : record;
}

/** That a trip is Nominal is known at its end; a fault is known before. */
function hasState({ done, faults = [] }: Trip): boolean {
  return done === true || faults.length > 0;
}

/** When a trip began, UTC ms. */
export function beginOf({ startedAt, createdAt }: Trip): number {
  return startedAt ?? createdAt;
}

/** The link to a trip that is still kept. */
export async function linkToTrip(context: Context, id: string | undefined): Promise<ResourceLink | undefined> {
  if (id === undefined || (await recordOf(context, 'trip', id)) === undefined) return undefined;
  return linkTo(context, 'trips.get', { tid: id });
}

/** Both bounds belong to it. What is not known yet of an open trip is in no range but the whole. */
function within(value: number | undefined, range: Range | undefined): boolean {
  if (range === undefined || (range.min === 0 && range.max === undefined)) return true;
  return value !== undefined && value >= range.min && value <= (range.max ?? Number.POSITIVE_INFINITY);
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
