/** The track of a trip on a drawn grid: a map that needs no network. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { numberOf, timeOf } from '../format.ts';
import { useWidth } from '../hooks.ts';
import { type JourneyEvent, type Point, placeAt } from '../journey.ts';
import { Mark } from './timeline.tsx';

/** m for each degree of latitude. */
const DEGREE = 111_320;
/** A car that hardly moved is not drawn larger than this, m. */
const SMALLEST = 200;
/** Least distance of grid lines, and space around the track, px. */
const CELL = 90;
const MARGIN = 32;
/** Below the track are the scale and the buttons, px. */
const FOOT = 36;
const ZOOMS = [1, 2, 4, 8, 16];

export interface TrackMapOptions {
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
  const [x, y, scale] = projectionOf(points, { width, height, factor: ZOOMS[zoom] ?? 1, centre: place });
  const step = stepOf(CELL / scale);
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
        <Grid {...{ width, height, points, x, y, step: step * scale }} />
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
      <div class="zoom">
        <button
          type="button"
          class="btn"
          aria-label="Zoom in"
          onClick={() => setZoom(Math.min(ZOOMS.length - 1, zoom + 1))}
        >
          +
        </button>
        <button type="button" class="btn" aria-label="Zoom out" onClick={() => setZoom(Math.max(0, zoom - 1))}>
          −
        </button>
      </div>
    </div>
  );
}

interface GridOptions {
  readonly width: number;
  readonly height: number;
  readonly points: readonly Point[];
  readonly x: Project;
  readonly y: Project;
  /** px */
  readonly step: number;
}

/** Lines that stay with the ground: they count from where the trip began. */
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

type Project = (point: Point) => number;

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly factor: number;
  /** What a zoomed map shows in the middle. */
  readonly centre: Point | undefined;
}

/** x and y in px, and px for each m: plane around the middle of the track, north up. */
function projectionOf(points: readonly Point[], { width, height, factor, centre }: Frame): [Project, Project, number] {
  const origin = points[0] ?? { longitude: 0, latitude: 0 };
  const shrink = Math.cos((origin.latitude * Math.PI) / 180);
  // The nearest way around the earth, also across the date line.
  const east = ({ longitude }: Point): number =>
    (((((longitude - origin.longitude + 180) % 360) + 360) % 360) - 180) * DEGREE * shrink;
  const north = ({ latitude }: Point): number => (latitude - origin.latitude) * DEGREE;
  const [west, right] = rangeOf(points.map(east));
  const [south, top] = rangeOf(points.map(north));
  const fitted = Math.min(
    (width - 2 * MARGIN) / Math.max(SMALLEST, right - west),
    (height - FOOT - 2 * MARGIN) / Math.max(SMALLEST, top - south),
  );
  const scale = Math.max(1e-6, fitted) * factor;
  const follows = factor > 1 && centre !== undefined;
  const middle = follows ? [east(centre), north(centre)] : [(west + right) / 2, (south + top) / 2];
  return [
    (point) => width / 2 + (east(point) - (middle[0] ?? 0)) * scale,
    (point) => (height - FOOT) / 2 - (north(point) - (middle[1] ?? 0)) * scale,
    scale,
  ];
}

function rangeOf(values: readonly number[]): [number, number] {
  if (values.length === 0) return [0, 0];
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
}

/** Lines through the points, broken at gaps; points that fall on the same pixel are left out. */
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

/** 1, 2 or 5 times a power of ten, at least `least`. */
function stepOf(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((one) => one * power >= least) ?? 10);
}
