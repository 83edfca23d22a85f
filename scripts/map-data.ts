/**
 * Makes `page/generated/map.json`, which contains the land, borders and cities of the maps on the page. The data are
 * from Natural Earth (public domain), in two npm packages. Run `node scripts/map-data.ts` to make the file again; the
 * first run needs a network. Lines are simplified so that the compressed file is smaller than 60 kB.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MapData } from '../page/shared/map-data.ts';
import { fetchOnce } from './package/registry.ts';

const file = fileURLToPath(new URL('../page/generated/map.json', import.meta.url));
/** Number of grid points per degree. */
const GRID = 50;
/** Largest deviation in degrees of a line from its original. */
const TOLERANCE = 0.06;
/** Smallest area of an island on the map in square degrees. */
const SMALLEST = 0.015;

const atlas = {
  specifier: 'world-atlas@2.0.2',
  integrity: 'sha512-IXfV0qwlKXpckz1FhwXVwKRjiIhOnWttOskm5CtxMsjgE/MXAYRHWJqgXOpM8IkcPBoXnyTU5lFHcYa5ChG0LQ==',
  file: 'countries-50m.json',
};
const places = {
  specifier: 'globe.gl@2.46.2',
  integrity: 'sha512-oh5fx/sTVtFa06OrLXxgfZ5TV1xhDzLKw0muc0fxJfpHrvfDNRspGqrgURpEBBYWS7REzQA78vodUrjbpfYoqA==',
  file: 'example/datasets/ne_110m_populated_places_simple.geojson',
};

type Place = readonly [longitude: number, latitude: number];
type Rings = readonly (readonly number[])[];

interface Topology {
  readonly transform: { readonly scale: Place; readonly translate: Place };
  readonly arcs: readonly (readonly Place[])[];
  readonly objects: {
    readonly countries: {
      readonly geometries: readonly (
        | { readonly type: 'Polygon'; readonly arcs: Rings }
        | { readonly type: 'MultiPolygon'; readonly arcs: readonly Rings[] }
      )[];
    };
  };
}

interface Cities {
  readonly features: readonly {
    readonly properties: {
      readonly name: string;
      readonly longitude: number;
      readonly latitude: number;
      readonly pop_max: number;
    };
  }[];
}

/** Returns the data that the page reads. The same packages give the same string. */
export function mapData(): string {
  const topology = read<Topology>(atlas);
  const lines = topology.arcs.map((arc) => decoded(arc, topology));
  const rings = topology.objects.countries.geometries
    .flatMap((one) => (one.type === 'Polygon' ? [one.arcs] : one.arcs))
    .flat()
    .filter((ring) => areaOf(ring.flatMap((index) => along(lines, index))) >= SMALLEST);
  const used = [...new Set(rings.flat().map((index) => (index < 0 ? ~index : index)))].sort((a, b) => a - b);
  const numbers = new Map(used.map((index, number) => [index, number]));
  const data: MapData = {
    grid: GRID,
    lines: used.map((index) => encoded(simplified(lines[index] as readonly Place[]))),
    rings: rings.map((ring) =>
      ring.map((index) => (index < 0 ? ~(numbers.get(~index) as number) : (numbers.get(index) as number))),
    ),
    cities: read<Cities>(places)
      .features.map(({ properties }) => properties)
      .sort((one, other) => other.pop_max - one.pop_max)
      .map(({ name, longitude, latitude }) => [name, Math.round(longitude * GRID), Math.round(latitude * GRID)]),
  };
  return `${JSON.stringify(data)}\n`;
}

function read<T>({ specifier, integrity, file }: typeof atlas): T {
  return JSON.parse(readFileSync(join(fetchOnce(specifier, integrity), file), 'utf8'));
}

/** Decodes a TopoJSON line, whose points are differences in integers, to degrees. */
function decoded(arc: readonly Place[], { transform: { scale, translate } }: Topology): readonly Place[] {
  let [x, y] = [0, 0];
  return arc.map(([east, north]) => {
    [x, y] = [x + east, y + north];
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
  });
}

/** Returns a line in the direction that it has in a ring. A complemented index means that the line is reversed. */
function along(lines: readonly (readonly Place[])[], index: number): readonly Place[] {
  return index < 0 ? (lines[~index] ?? []).toReversed() : (lines[index] ?? []);
}

function areaOf(ring: readonly Place[]): number {
  const twice = ring.reduce((sum, [x, y], at) => {
    const [nextX, nextY] = ring[(at + 1) % ring.length] as Place;
    return sum + x * nextY - nextX * y;
  }, 0);
  return Math.abs(twice) / 2;
}

/**
 * Simplifies a line (Douglas-Peucker): removes points that are within the tolerance of the line through the remaining
 * points.
 */
function simplified(line: readonly Place[]): readonly Place[] {
  const [first, last] = [line[0] as Place, line.at(-1) as Place];
  let [farthest, most] = [0, 0];
  for (let at = 1; at < line.length - 1; at++) {
    const distance = distanceTo(line[at] as Place, first, last);
    if (distance > most) [farthest, most] = [at, distance];
  }
  if (most <= TOLERANCE) return [first, last];
  return [...simplified(line.slice(0, farthest + 1)), ...simplified(line.slice(farthest)).slice(1)];
}

/** Returns the distance of a point from a line through two others. Far from the equator, longitudes are closer. */
function distanceTo([x, y]: Place, [fromX, fromY]: Place, [toX, toY]: Place): number {
  const shrink = Math.cos((y * Math.PI) / 180);
  const [east, north] = [(toX - fromX) * shrink, toY - fromY];
  const [dx, dy] = [(x - fromX) * shrink, y - fromY];
  const length = east * east + north * north;
  const share = length === 0 ? 0 : Math.min(1, Math.max(0, (dx * east + dy * north) / length));
  return Math.hypot(dx - share * east, dy - share * north);
}

/** Encodes a line in grid units: the first point, then the differences. */
function encoded(line: readonly Place[]): number[] {
  const [points, numbers] = [
    line.map(([x, y]) => [Math.round(x * GRID), Math.round(y * GRID)] as const),
    [] as number[],
  ];
  let [x, y] = [0, 0];
  for (const [at, [nextX, nextY]] of points.entries()) {
    if (at > 0 && nextX === x && nextY === y) continue;
    numbers.push(nextX - x, nextY - y);
    [x, y] = [nextX, nextY];
  }
  return numbers;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(file, mapData());
