/** Land, borders and cities for the maps, from Natural Earth (public domain). */

/** The file map.json, which scripts/map-data.ts makes. Coordinates are integers in units of 1/`grid` degree. */
export interface MapData {
  /** Units per degree. */
  readonly grid: number;
  /** Longitude and latitude of the first point, then the differences from point to point. */
  readonly lines: readonly (readonly number[])[];
  /** Outlines of countries as indexes of lines. The bitwise complement of an index means the line in reverse. */
  readonly rings: readonly (readonly number[])[];
  /** Cities, largest first. */
  readonly cities: readonly (readonly [name: string, longitude: number, latitude: number])[];
}

/** Coordinates in degrees. */
export type Place = readonly [longitude: number, latitude: number];
type Line = readonly Place[];

/** Bounds of a drawing in degrees. */
interface MapWindow {
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

export interface LandMap {
  readonly land: readonly Line[];
  /** Borders between two countries. */
  readonly borders: readonly Line[];
  readonly cities: readonly { readonly name: string; readonly place: Place }[];
}

export function landMapOf({ grid, lines, rings, cities }: MapData): LandMap {
  const decoded = lines.map((numbers) => {
    let [x, y] = [0, 0];
    return Array.from({ length: numbers.length / 2 }, (_, at): Place => {
      [x, y] = [x + (numbers[2 * at] ?? 0), y + (numbers[2 * at + 1] ?? 0)];
      return [x / grid, y / grid];
    });
  });
  const uses = new Map<number, number>();
  for (const index of rings.flat()) {
    const line = index < 0 ? ~index : index;
    uses.set(line, (uses.get(line) ?? 0) + 1);
  }
  return {
    land: rings.map((ring) =>
      unrolled(ring.flatMap((index) => (index < 0 ? (decoded[~index] ?? []).toReversed() : (decoded[index] ?? [])))),
    ),
    borders: decoded.filter((_, line) => (uses.get(line) ?? 0) > 1),
    cities: cities.map(([name, x, y]) => ({ name, place: [x / grid, y / grid] })),
  };
}

/** Removes jumps at the date line: the ring continues beyond. Closes a ring around the earth at the South Pole. */
function unrolled(ring: Line): Line {
  let turn = 0;
  const line = ring.map(([x, y], at): Place => {
    const [before] = ring[at - 1] ?? [x];
    if (Math.abs(x - before) > 180) turn += x < before ? 360 : -360;
    return [x + turn, y];
  });
  const [[first], [last]] = [line[0] as Place, line.at(-1) as Place];
  return Math.abs(last - first) > 180 ? [...line, [last, -90], [first, -90]] : line;
}

/** Returns the part of a map inside a window, in the degrees of the window, which may cross the date line. */
export function partIn(map: LandMap, window: MapWindow): LandMap {
  const parts = [-360, 0, 360].map((turn) => {
    const own = { ...window, west: window.west - turn, east: window.east - turn };
    const turned = (line: Line): Line => (turn === 0 ? line : line.map(([x, y]) => [x + turn, y]));
    const inside = ([x, y]: Place): boolean => x >= own.west && x <= own.east && y >= own.south && y <= own.north;
    return {
      land: map.land
        .filter((ring) => meets(ring, own))
        .map((ring) => turned(clipped(ring, own)))
        // The bounding box of a ring can overlap a corner of the window although the ring itself does not.
        .filter((ring) => ring.length > 0),
      borders: map.borders.filter((line) => meets(line, own)).map(turned),
      cities: map.cities
        .filter(({ place }) => inside(place))
        .map(({ name, place: [x, y] }) => ({ name, place: [x + turn, y] as const })),
    };
  });
  return {
    land: parts.flatMap(({ land }) => land),
    borders: parts.flatMap(({ borders }) => borders),
    cities: parts.flatMap(({ cities }) => cities),
  };
}

/** Returns the cities around which there is enough space for their names, largest first. */
export function namedCities(
  { cities }: LandMap,
  project: (place: Place) => readonly [x: number, y: number],
): readonly { readonly name: string; readonly x: number; readonly y: number }[] {
  const named: { name: string; x: number; y: number; width: number }[] = [];
  for (const { name, place } of cities) {
    const [x, y] = project(place);
    const width = CITY_MARK_PX + name.length * LETTER_WIDTH_PX;
    const free = named.every(
      (one) => x > one.x + one.width || one.x > x + width || Math.abs(y - one.y) > 2 * LETTER_WIDTH_PX,
    );
    if (free) named.push({ name, x, y, width });
  }
  return named;
}

/** Space for the mark of a city, and for a letter of its name. */
const CITY_MARK_PX = 10;
const LETTER_WIDTH_PX = 7;

function meets(line: Line, { west, east, south, north }: MapWindow): boolean {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of line) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    low = Math.min(low, y);
    high = Math.max(high, y);
  }
  return left <= east && right >= west && low <= north && high >= south;
}

/** Clips a ring to the window (Sutherland and Hodgman), so that no drawing has points far outside. */
function clipped(ring: Line, { west, east, south, north }: MapWindow): Line {
  const edges: readonly (readonly [axis: 0 | 1, limit: number, side: 1 | -1])[] = [
    [0, west, 1],
    [0, east, -1],
    [1, south, 1],
    [1, north, -1],
  ];
  return edges.reduce<Line>((line, [axis, limit, side]) => {
    const within = (place: Place): boolean => side * (place[axis] - limit) >= 0;
    return line.flatMap((place, at) => {
      const before = line.at(at - 1) as Place;
      if (within(before) === within(place)) return within(place) ? [place] : [];
      const share = (limit - before[axis]) / (place[axis] - before[axis]);
      const crossing: Place = [before[0] + share * (place[0] - before[0]), before[1] + share * (place[1] - before[1])];
      return within(place) ? [crossing, place] : [crossing];
    });
  }, ring);
}
