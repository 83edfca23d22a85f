/** Track of a trip over land, borders and cities: a map that needs no network. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { store } from '../shared/car-store.ts';
import { numberOf, timeOf } from '../shared/format.ts';
import { useWidth } from '../shared/hooks.ts';
import { useLandMap } from '../shared/land-map.ts';
import { namedCities, type Place, partIn } from '../shared/map-data.ts';
import { type JourneyEvent, type Point, placeAt } from './journey-records.ts';
import { Mark } from './timeline.tsx';

/** Circumference of the earth in Web Mercator, in m. The map tiles below the track use the same projection. */
const EARTH_CIRCUMFERENCE_M = 40_075_017;
/** Size of a tile in px, and finest zoom level of tile servers. */
const TILE_PX = 256;
const MAX_TILE_ZOOM = 19;
/** Smallest displayed distance in m, for a car that hardly moved. */
const MIN_EXTENT_M = 200;
/** Shortest distance of grid lines, and space around the track. */
const MIN_GRID_PX = 90;
const MARGIN_PX = 32;
/** Space below the track for the scale and the buttons. */
const FOOT_PX = 36;
/** Largest zoom step. Each step doubles the scale; step 0 fits the trip. */
const MAX_ZOOM_STEP = 4;
/** Width in m of the ground in the widest view: a country with its neighbours. */
const WIDEST_VIEW_M = 1_500_000;

interface TrackMapOptions {
  readonly points: readonly Point[];
  /** UTC ms. */
  readonly at: number;
  readonly events: readonly JourneyEvent[];
}

export function TrackMap({ points, at, events }: TrackMapOptions): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [zoom, setZoom] = useState(0);
  const height = Math.round(Math.min(520, Math.max(260, width * 0.6)));
  const place = placeAt(points, at);
  const projection = projectionOf(points, { width, height, factor: 2 ** zoom, centre: place });
  const minZoomStep = Math.min(0, zoom - Math.ceil(Math.log2((projection.scale * WIDEST_VIEW_M) / Math.max(1, width))));
  const { x, y, scale } = projection;
  const tiles = store.car?.tiles;
  const step = stepOf(MIN_GRID_PX / scale);
  const [first, last] = [points[0], points.at(-1)];
  const sentence =
    first === undefined || last === undefined
      ? 'A map without a track.'
      : `Track from ${timeOf(first.at)} to ${timeOf(last.at)} with ${points.length} points. ${
          place === undefined
            ? `The way at ${timeOf(at)} is unknown.`
            : `At ${timeOf(at)} the car is at ${place.latitude.toFixed(5)}, ${place.longitude.toFixed(5)}.`
        }`;
  return (
    <div class="track-map" ref={box}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={sentence}>
        <Land {...{ width, height, projection }} />
        <Grid {...{ width, height, points, x, y, step: step * scale }} />
        {tiles !== undefined && <Tiles url={tiles.url} {...{ width, height, projection }} />}
        {tiles !== undefined && <path class="way casing" d={wayOf(points, x, y)} />}
        <path class="way" d={wayOf(points, x, y)} />
        <path
          class="way passed"
          d={wayOf([...points.filter((point) => point.at < at), ...(place === undefined ? [] : [place])], x, y)}
        />
        {first !== undefined && <circle class="end" cx={x(first)} cy={y(first)} r="5" />}
        {last !== undefined && <rect class="end" x={x(last) - 4} y={y(last) - 4} width="8" height="8" />}
        {first !== undefined &&
          last !== undefined &&
          events.map(({ id, kind, from }) => {
            const where = from < first.at || from > last.at ? undefined : placeAt(points, from);
            return where && <Mark key={id} kind={kind} x={x(where)} y={y(where) - 12} />;
          })}
        {place !== undefined && <circle class="here" cx={x(place)} cy={y(place)} r="7" />}
        <path class="scale" d={`M16 ${height - 22}v6h${step * scale}v-6`} />
        <text class="axis" x="20" y={height - 22}>
          {step < 1_000 ? `${numberOf(step)} m` : `${numberOf(step / 1_000)} km`}
        </text>
        <path class="scale" d={`M${width - 20} 40V18l-5 7m5-7l5 7`} />
        <text class="axis" x={width - 20} y="54" text-anchor="middle">
          N
        </text>
      </svg>
      {tiles?.attribution !== undefined && <p class="attribution">{tiles.attribution}</p>}
      {tiles === undefined && (
        <p class="note streets">
          Land and cities only. For streets, start the bench with <code>--tiles</code>, or set <code>http.tiles</code>{' '}
          in the configuration.
        </p>
      )}
      <div class="zoom">
        <button
          type="button"
          class="btn"
          aria-label="Zoom in"
          disabled={zoom >= MAX_ZOOM_STEP}
          onClick={() => setZoom(zoom + 1)}
        >
          +
        </button>
        <button
          type="button"
          class="btn"
          aria-label="Zoom out"
          disabled={zoom <= minZoomStep}
          onClick={() => setZoom(zoom - 1)}
        >
          −
        </button>
      </div>
    </div>
  );
}

/** Draws the land below the grid, once it is loaded. */
function Land({ width, height, projection }: Omit<TilesOptions, 'url'>): JSX.Element | null {
  const map = useLandMap();
  if (map === undefined) return null;
  const { x, y, left, top, world } = projection;
  const latitudeAt = (px: number): number => (Math.atan(Math.sinh(Math.PI * (1 - 2 * (px / world)))) * 180) / Math.PI;
  const part = partIn(map, {
    west: (left / world) * 360 - 180,
    east: ((left + width) / world) * 360 - 180,
    south: latitudeAt(Math.min(world, top + height)),
    north: latitudeAt(Math.max(0, top)),
  });
  const project = ([longitude, latitude]: Place): readonly [number, number] => {
    const point = { longitude, latitude };
    return [x(point), y(point)];
  };
  const path = (line: readonly Place[]): string =>
    `M${line.map((place) => project(place).map((px) => px.toFixed(1))).join('L')}`;
  return (
    <>
      <rect class="sea" width={width} height={height} />
      <path class="land" d={part.land.map(path).join('')} />
      <path class="border" d={part.borders.map(path).join('')} />
      {namedCities(part, project).map(({ name, x: cityX, y: cityY }) => (
        <g key={name}>
          <circle class="city" cx={cityX} cy={cityY} r="2" />
          <text class="axis" x={cityX + 5} y={cityY + 4}>
            {name}
          </text>
        </g>
      ))}
    </>
  );
}

interface TilesOptions {
  readonly url: string;
  readonly width: number;
  readonly height: number;
  readonly projection: Projection;
}

/** Draws the tiles. Land and grid remain visible where a tile does not load. */
function Tiles({ url, width, height, projection: { left, top, world } }: TilesOptions): JSX.Element {
  const zoom = Math.min(MAX_TILE_ZOOM, Math.max(0, Math.round(Math.log2(world / TILE_PX))));
  const count = 2 ** zoom;
  const size = world / count;
  const columns = range(Math.floor(left / size), Math.floor((left + width) / size));
  const rows = range(Math.max(0, Math.floor(top / size)), Math.min(count - 1, Math.floor((top + height) / size)));
  return (
    <>
      {rows.flatMap((row) =>
        columns.map((column) => (
          <image
            key={`${zoom}/${column}/${row}`}
            href={addressOf(url, zoom, ((column % count) + count) % count, row)}
            x={column * size - left}
            y={row * size - top}
            width={size}
            height={size}
            onError={({ currentTarget }) => currentTarget.setAttribute('visibility', 'hidden')}
          />
        )),
      )}
    </>
  );
}

function addressOf(url: string, zoom: number, column: number, row: number): string {
  return url.replaceAll('{z}', `${zoom}`).replaceAll('{x}', `${column}`).replaceAll('{y}', `${row}`);
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

interface GridOptions {
  readonly width: number;
  readonly height: number;
  readonly points: readonly Point[];
  readonly x: Project;
  readonly y: Project;
  /** Distance between two grid lines in px. */
  readonly step: number;
}

/** Draws grid lines that are fixed to the ground and start at the beginning of the trip. */
function Grid({ width, height, points, x, y, step }: GridOptions): JSX.Element {
  const [origin] = points;
  const lines = (size: number, through: number): number[] => {
    const first = ((through % step) + step) % step;
    return Array.from({ length: Math.ceil(Math.max(0, size - first) / step) }, (_, index) => first + index * step);
  };
  const across = lines(width, origin === undefined ? 0 : x(origin)).map((at) => `M${at.toFixed(1)} 0V${height}`);
  const down = lines(height, origin === undefined ? 0 : y(origin)).map((at) => `M0 ${at.toFixed(1)}H${width}`);
  return <path class="grid" d={[...across, ...down].join('')} />;
}

type Project = (point: Pick<Point, 'longitude' | 'latitude'>) => number;

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly factor: number;
  /** Centre of a zoomed map. */
  readonly centre: Point | undefined;
}

interface Projection {
  /** Converts a point to px. */
  readonly x: Project;
  readonly y: Project;
  /** Scale in px per m. */
  readonly scale: number;
  /** Corner of the map in the world. The world is a square with sides of `world` px. */
  readonly left: number;
  readonly top: number;
  readonly world: number;
}

/** Returns the projection to px. North is up. */
function projectionOf(points: readonly Point[], { width, height, factor, centre }: Frame): Projection {
  const origin = points[0] ?? { longitude: 0, latitude: 0 };
  /** Mercator scale factor: m in the projection per m on the ground. */
  const stretch = 1 / Math.cos((origin.latitude * Math.PI) / 180);
  // The world is 1 wide and 1 high. Uses the shortest way around the earth, even across the date line.
  const east = ({ longitude }: Pick<Point, 'longitude'>): number =>
    (origin.longitude + 180 + (((((longitude - origin.longitude + 180) % 360) + 360) % 360) - 180)) / 360;
  const south = ({ latitude }: Pick<Point, 'latitude'>): number =>
    0.5 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI);
  const [west, right] = rangeOf(points.map(east));
  const [top, bottom] = rangeOf(points.map(south));
  const smallest = (MIN_EXTENT_M * stretch) / EARTH_CIRCUMFERENCE_M;
  const fitted = Math.min(
    (width - 2 * MARGIN_PX) / Math.max(smallest, right - west),
    (height - FOOT_PX - 2 * MARGIN_PX) / Math.max(smallest, bottom - top),
  );
  const world = Math.max(1, fitted) * factor;
  const follows = factor > 1 && centre !== undefined;
  const [middleX, middleY] = follows ? [east(centre), south(centre)] : [(west + right) / 2, (top + bottom) / 2];
  const corner = { left: middleX * world - width / 2, top: middleY * world - (height - FOOT_PX) / 2 };
  return {
    x: (point) => east(point) * world - corner.left,
    y: (point) => south(point) * world - corner.top,
    scale: (world * stretch) / EARTH_CIRCUMFERENCE_M,
    ...corner,
    world,
  };
}

function rangeOf(values: readonly number[]): [number, number] {
  if (values.length === 0) return [0, 0];
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
}

/** Returns lines through the points, interrupted at gaps. Omits points on the same pixel as the previous one. */
function wayOf(points: readonly Point[], x: Project, y: Project): string {
  let path = '';
  let [lastX, lastY] = [Number.NaN, Number.NaN];
  for (const point of points) {
    const [px, py] = [x(point), y(point)];
    const begins = path === '' || point.gap;
    if (!begins && Math.abs(px - lastX) < 1 && Math.abs(py - lastY) < 1) continue;
    path += `${begins ? 'M' : 'L'}${px.toFixed(1)} ${py.toFixed(1)}`;
    [lastX, lastY] = [px, py];
  }
  return path;
}

/** Returns 1, 2 or 5 times a power of ten: the smallest such number that is at least `least`. */
function stepOf(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((one) => one * power >= least) ?? 10);
}
