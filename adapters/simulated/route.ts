/** Mean radius of the Earth (IUGG) in m. */
const EARTH = 6_371_009;
const RADIANS = Math.PI / 180;

export interface Corner {
  readonly latitude: number;
  readonly longitude: number;
  /** Radius of the turn in m; 0 if the route goes straight on. */
  readonly radius: number;
  /** Wait in s at the traffic light before the corner. If omitted, there is no light. */
  readonly red?: number;
}

/** Around the Champ de Mars in Paris, counter-clockwise: every corner is a left turn. WGS 84. */
export const champDeMars: readonly Corner[] = [
  { latitude: 48.85628, longitude: 2.29292, radius: 0 }, // avenue de Suffren, where the car lives
  { latitude: 48.8514, longitude: 2.3006, radius: 12 }, // avenue de la Motte-Picquet
  { latitude: 48.8546, longitude: 2.3056, radius: 12, red: 3 }, // avenue de la Bourdonnais, École Militaire
  { latitude: 48.8609, longitude: 2.2957, radius: 12, red: 2 }, // quai Branly
  { latitude: 48.85935, longitude: 2.2932, radius: 120 }, // Pont d'Iéna
  { latitude: 48.8575, longitude: 2.291, radius: 12 }, // avenue de Suffren
];

/** Number of chords that approximate the arc around a corner. */
const CHORDS = 12;
/** Distance in m of the stop line before a turn. */
const STOP_LINE = 4;

export interface RoutePoint {
  readonly latitude: number;
  readonly longitude: number;
  /** Altitude above sea level in m. */
  readonly altitude: number;
  /** Degrees clockwise from north, 0 ≤ heading < 360. */
  readonly heading: number;
}

/** A turning part of the route. Distances in m from the start. */
interface Bend {
  readonly from: number;
  readonly to: number;
  /** Curvature in 1/m; left is positive. */
  readonly curvature: number;
}

interface Point {
  readonly east: number;
  readonly north: number;
}

/**
 * A closed route over real streets, as a polyline: everything that moves along it uses the same distance.
 * It is computed in the plane that touches the sphere at the start; the error over 3 km is less than a millionth.
 */
export class Route {
  /** Length in m. */
  readonly length: number;
  readonly bends: readonly Bend[];
  /** Traffic lights: position (m from the start) and duration (s) of the wait. */
  readonly lights: readonly { readonly at: number; readonly wait: number }[];
  readonly #points: readonly Point[];
  /** Distance of each point from the start in m. */
  readonly #along: readonly number[];
  readonly #origin: Corner;

  /** @param corners in their order; the first is the home of the car */
  constructor(corners: readonly Corner[] = champDeMars) {
    this.#origin = corners[0] as Corner;
    const plane = corners.map((corner) => this.#project(corner));
    const points: Point[] = [plane[0] as Point];
    const along: number[] = [0];
    const bends: Bend[] = [];
    const lights: { at: number; wait: number }[] = [];
    const reach = (point: Point): number => {
      const last = points[points.length - 1] as Point;
      const total = (along[along.length - 1] as number) + Math.hypot(point.east - last.east, point.north - last.north);
      points.push(point);
      along.push(total);
      return total;
    };
    for (let i = 1; i < corners.length; i++) {
      const corner = corners[i] as Corner;
      const next = plane[(i + 1) % plane.length] as Point;
      const { points: arc, left } = around(plane[i - 1] as Point, plane[i] as Point, next, corner.radius);
      const from = reach(arc[0] as Point);
      let to = from;
      for (const point of arc.slice(1)) to = reach(point);
      bends.push({ from, to, curvature: (left ? 1 : -1) / corner.radius });
      if (corner.red !== undefined) lights.push({ at: from - STOP_LINE, wait: corner.red });
    }
    this.length = reach(plane[0] as Point);
    this.bends = bends;
    this.lights = lights;
    this.#points = points;
    this.#along = along;
  }

  /** Returns the position in m from the start of the route after `distance` m, without whole laps. */
  along(distance: number): number {
    return distance > this.length ? distance % this.length : distance;
  }

  /** Returns the point `distance` m after the start, 0 ≤ distance ≤ length. */
  at(distance: number): RoutePoint {
    let low = 0;
    let high = this.#along.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#along[middle] as number) <= distance) low = middle;
      else high = middle;
    }
    const a = this.#points[low] as Point;
    const b = this.#points[high] as Point;
    const start = this.#along[low] as number;
    const share = (distance - start) / ((this.#along[high] as number) - start);
    const north = a.north + (b.north - a.north) * share;
    const east = a.east + (b.east - a.east) * share;
    const bearing = Math.atan2(b.east - a.east, b.north - a.north) / RADIANS;
    return {
      latitude: this.#origin.latitude + north / (EARTH * RADIANS),
      longitude: this.#origin.longitude + east / (EARTH * RADIANS * Math.cos(this.#origin.latitude * RADIANS)),
      altitude: 35 + 2 * Math.sin((2 * Math.PI * distance) / this.length),
      heading: (bearing + 360) % 360,
    };
  }

  #project(corner: Corner): Point {
    const { latitude, longitude } = this.#origin;
    return {
      north: (corner.latitude - latitude) * RADIANS * EARTH,
      east: (corner.longitude - longitude) * RADIANS * EARTH * Math.cos(latitude * RADIANS),
    };
  }
}

/** Returns the points of the arc with `radius` from line a→b tangentially to line b→c, and true if it turns left. */
function around(a: Point, b: Point, c: Point, radius: number): { points: Point[]; left: boolean } {
  const inward = Math.atan2(b.north - a.north, b.east - a.east);
  const outward = Math.atan2(c.north - b.north, c.east - b.east);
  let turn = outward - inward;
  if (turn > Math.PI) turn -= 2 * Math.PI;
  if (turn < -Math.PI) turn += 2 * Math.PI;
  const tangent = radius * Math.tan(Math.abs(turn) / 2);
  const side = Math.sign(turn);
  const centre = {
    east: b.east - tangent * Math.cos(inward) - side * radius * Math.sin(inward),
    north: b.north - tangent * Math.sin(inward) + side * radius * Math.cos(inward),
  };
  const points: Point[] = [];
  for (let i = 0; i <= CHORDS; i++) {
    const direction = inward + (turn * i) / CHORDS;
    points.push({
      east: centre.east + side * radius * Math.sin(direction),
      north: centre.north - side * radius * Math.cos(direction),
    });
  }
  return { points, left: turn > 0 };
}
