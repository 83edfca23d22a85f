/** Past positions of the car. */
import { DAY } from '../../../protocol/calendar.ts';
import { waypointJson } from '../../../protocol/interface/json/position.ts';
import type { Waypoint, WaypointMessage } from '../../../protocol/schema/waypoint.ts';
import type { Answer } from '../call.ts';
import type { RecordPosition } from '../paging.ts';
import { collection } from './collection.ts';
import { type Context, isAskedFor } from './context.ts';
import { simplified } from './simplify.ts';
import { tripAskedFor } from './trips.ts';

/** Maximum timespan of a stored piece of the route in ms; by default a piece contains one minute. */
const PIECE = DAY;

interface Point extends RecordPosition {
  readonly point: Waypoint;
}

/** `GET …/trips/{tid}/wayPoints` */
export async function tripWaypoints(context: Context): Promise<Answer> {
  const { startedAt, createdAt, stoppedAt } = await tripAskedFor(context);
  return waypointsBetween(context, startedAt ?? createdAt, stoppedAt);
}

/**
 * Returns the points between two times in UTC ms (both inclusive; `to` omitted: until now) that are within
 * `timestamps`, except those that `tolerance` makes redundant.
 */
export async function waypointsBetween(context: Context, from: number, to = Number.POSITIVE_INFINITY): Promise<Answer> {
  const tolerance = context.call.query['tolerance'] as number | undefined;
  const all = await pointsBetween(context, from, to);
  const points = tolerance === undefined ? all : simplified(all, ({ point }) => point, tolerance * 1000);
  // WayPoints (interface 3.19.2).
  return collection(context, 'positions', points, ({ point }) => waypointJson(context.viewer, point));
}

async function pointsBetween(context: Context, from: number, to: number): Promise<Point[]> {
  if (!context.sees('data:position')) return [];
  const result: Point[] = [];
  for await (const { id, record } of context.car.records.list('waypoint', from - PIECE, to + 1)) {
    for (const point of (record as WaypointMessage).points) {
      const { at } = point;
      if (at >= from && at <= to && isAskedFor(context, at)) result.push({ at, id, point });
    }
  }
  return result.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}
