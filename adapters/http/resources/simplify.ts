/** Simplifies a route: Douglas and Peucker, Cartographica 10 (1973). */
import { deviation } from '../../../agent/model/position.ts';

export interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

/** Points per part, which bounds the work to this times the number of points. The ends of each part remain. */
const STRETCH = 256;

/**
 * Returns the points that remain if an omitted point may deviate at most `tolerance` metres from the straight line
 * between its remaining neighbours. The first and last point always remain. Distances are measured on the plane at the
 * earlier of the two neighbours, even if they are so far apart (100 km) that the earth's curvature matters.
 */
export function simplified<T>(points: readonly T[], at: (point: T) => Coordinates, tolerance: number): T[] {
  if (points.length < 3) return [...points];
  const stays = new Uint8Array(points.length);
  const stretches: [first: number, last: number][] = [];
  for (let first = 0; first < points.length - 1; first += STRETCH) {
    const last = Math.min(first + STRETCH, points.length - 1);
    stays[first] = 1;
    stays[last] = 1;
    stretches.push([first, last]);
  }
  for (let stretch = stretches.pop(); stretch !== undefined; stretch = stretches.pop()) {
    const [first, last] = stretch;
    const farthest = farthestOf(points, at, first, last, tolerance);
    if (farthest === undefined) continue;
    stays[farthest] = 1;
    stretches.push([first, farthest], [farthest, last]);
  }
  return points.filter((_, index) => stays[index] === 1);
}

/** Returns the point farthest from the line between the ends of its part, if farther than the tolerance. */
function farthestOf<T>(
  points: readonly T[],
  at: (point: T) => Coordinates,
  first: number,
  last: number,
  tolerance: number,
): number | undefined {
  const from = at(points[first] as T);
  const to = at(points[last] as T);
  let found: number | undefined;
  let most = tolerance;
  for (let index = first + 1; index < last; index++) {
    const aside = deviation(from, to, at(points[index] as T));
    if (aside <= most) continue;
    most = aside;
    found = index;
  }
  return found;
}
