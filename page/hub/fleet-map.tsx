/**
 * Positions of all cars over land, borders and cities. Needs no network. Shape and colour show the age of a position.
 */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { type Age, ageOfSilence, ages, type FleetPositions } from '../../protocol/interface/own/hub-overview.ts';
import { addressOfCar } from '../shared/addresses.ts';
import { carNow, pollWhileVisible } from '../shared/connection.ts';
import { numberOf } from '../shared/format.ts';
import { useTopics, useWidth } from '../shared/hooks.ts';
import { useLandMap } from '../shared/land-map.ts';
import { type LandMap, namedCities, type Place, partIn } from '../shared/map-data.ts';

/** Time between two reads. */
const POLL_INTERVAL_MS = 1_000;
/** Time in ms between two reads of all cars. Other reads return recently active cars, with a clock tolerance. */
const FULL_READ_INTERVAL_MS = 60_000;
const CLOCK_TOLERANCE_MS = 5_000;
/** Kilometres per degree of latitude. */
const KM_PER_DEGREE = 111.32;
/** Smallest displayed extent in degrees, for cars that are close together. */
const MIN_EXTENT_DEGREES = 0.02;
/** Margin around the cars. */
const MARGIN_PX = 28;
const MIN_GRID_PX = 96;
/** Space for the buttons at the lower right. */
const BUTTONS_WIDTH_PX = 220;
const DOT_RADIUS_PX = 4;
/** Largest distance in px from a click to the car that it opens. */
const CLICK_RADIUS_PX = 14;
const GRID_STEPS_DEGREES = [30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

type Position = FleetPositions['positions'][number];

/** Centre of the drawing in degrees, and px per degree of latitude. */
interface View {
  readonly longitude: number;
  readonly latitude: number;
  readonly scale: number;
}

interface Drag {
  readonly x: number;
  readonly y: number;
  readonly from: View;
  moved: boolean;
}

/** Returns the last known positions of the cars. */
function usePositions(): ReadonlyMap<string, Position> {
  const cars = useRef(new Map<string, Position>()).current;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    let newest = 0;
    /** Time of the last read of all cars, by the hub's clock. */
    let whole = 0;
    let since = 0;
    return pollWhileVisible<FleetPositions>({
      // Reads only newer positions, but all of them from time to time, because cars may have been removed.
      path: () => {
        since = carNow() - whole > FULL_READ_INTERVAL_MS ? 0 : Math.max(0, newest - CLOCK_TOLERANCE_MS);
        return since === 0 ? '/vigie/v1/positions' : `/vigie/v1/positions?since=${since}`;
      },
      every: POLL_INTERVAL_MS,
      lost: () => undefined,
      answered: ({ at, positions }) => {
        if (since === 0) {
          cars.clear();
          whole = at;
        }
        for (const one of positions) {
          cars.set(one[0], one);
          newest = Math.max(newest, one[3]);
        }
        // Other changes are drawn at the next second: drawing ten thousand cars takes much of a second.
        if (since === 0) redraw(undefined as never);
      },
    });
  }, [cars]);
  return cars;
}

export function FleetMap({ pointed }: { readonly pointed: string | undefined }): JSX.Element {
  useTopics('second');
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const height = Math.round(Math.min(480, Math.max(280, width * 0.85)));
  const cars = usePositions();
  const map = useLandMap();
  /** Undefined if the drawing shows all cars. */
  const [chosen, setChosen] = useState<View>();
  const fitted = viewOfAll(cars.values(), width, height);
  const view = chosen ?? fitted;
  const zoom = (factor: number): void => {
    if (view !== undefined) setChosen({ ...view, scale: Math.min(2e6, Math.max(1, view.scale * factor)) });
  };
  useLayoutEffect(() => {
    if (canvas.current !== null && view !== undefined)
      draw(canvas.current, { width, height, view, cars, pointed, map });
  });
  const drag = useRef<Drag | undefined>(undefined);
  const down = (event: PointerEvent): void => {
    if (view === undefined) return;
    drag.current = { x: event.clientX, y: event.clientY, from: view, moved: false };
    canvas.current?.setPointerCapture(event.pointerId);
  };
  const moved = ({ clientX, clientY }: PointerEvent): void => {
    if (drag.current === undefined) return;
    const { x, y, from } = drag.current;
    if (Math.hypot(clientX - x, clientY - y) < 4 && !drag.current.moved) return;
    drag.current.moved = true;
    const latitude = from.latitude + (clientY - y) / from.scale;
    const longitude = from.longitude - (clientX - x) / (from.scale * shrinkAt(from.latitude));
    setChosen({ ...from, latitude: Math.min(85, Math.max(-85, latitude)), longitude });
  };
  const up = ({ offsetX, offsetY }: PointerEvent): void => {
    const { current } = drag;
    drag.current = undefined;
    if (current === undefined || current.moved || view === undefined) return;
    const vin = nearest(cars.values(), [offsetX, offsetY], { width, height, view });
    if (vin !== undefined) location.hash = addressOfCar(vin);
  };
  const counts = countsOf(cars.values());
  const sentence =
    cars.size === 0
      ? 'A map without cars.'
      : `A map of ${numberOf(cars.size, 1)} ${cars.size === 1 ? 'car' : 'cars'} by the age of their data: ${ages.map((age) => `${counts[age]} ${WORDS[age]}`).join(', ')}.`;
  return (
    <section class="panel fleet-map" aria-labelledby="map-title">
      <header>
        <h2 id="map-title">Where they are</h2>
        <span class="note">a click opens a car</span>
      </header>
      <div class="track-map" ref={box}>
        {cars.size === 0 && <p class="none">No car has told where it is.</p>}
        <canvas
          ref={canvas}
          role="img"
          aria-label={sentence}
          hidden={cars.size === 0}
          onPointerDown={down}
          onPointerMove={moved}
          onPointerUp={up}
        />
        {cars.size > 0 && (
          <div class="zoom">
            <button type="button" class="btn" aria-label="Zoom in" onClick={() => zoom(2)}>
              +
            </button>
            <button type="button" class="btn" aria-label="Zoom out" onClick={() => zoom(0.5)}>
              −
            </button>
            <button type="button" class="btn" disabled={chosen === undefined} onClick={() => setChosen(undefined)}>
              All
            </button>
          </div>
        )}
      </div>
    </section>
  );
}

const WORDS: Readonly<Record<Age, string>> = {
  minute: 'within a minute',
  hour: 'within an hour',
  day: 'within a day',
  older: 'older',
};

function countsOf(cars: Iterable<Position>): Record<Age, number> {
  const counts: Record<Age, number> = { minute: 0, hour: 0, day: 0, older: 0 };
  const now = carNow();
  for (const [, , , heard] of cars) counts[ageOfSilence(now - heard)]++;
  return counts;
}

/** Returns the length of a degree of longitude divided by that of a degree of latitude. */
function shrinkAt(latitude: number): number {
  return Math.max(0.05, Math.cos((latitude * Math.PI) / 180));
}

function viewOfAll(cars: Iterable<Position>, width: number, height: number): View | undefined {
  let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [, latitude, longitude] of cars) {
    west = Math.min(west, longitude);
    east = Math.max(east, longitude);
    south = Math.min(south, latitude);
    north = Math.max(north, latitude);
  }
  if (west > east) return undefined;
  const latitude = (south + north) / 2;
  const across = Math.max(MIN_EXTENT_DEGREES, east - west) * shrinkAt(latitude);
  const scale = Math.min(
    (width - 2 * MARGIN_PX) / across,
    (height - 2 * MARGIN_PX) / Math.max(MIN_EXTENT_DEGREES, north - south),
  );
  return { longitude: (west + east) / 2, latitude, scale };
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly view: View;
}

function placeOf([, latitude, longitude]: Position, frame: Frame): readonly [number, number] {
  return projected([longitude, latitude], frame);
}

function projected([longitude, latitude]: Place, { width, height, view }: Frame): readonly [number, number] {
  const x = width / 2 + (longitude - view.longitude) * view.scale * shrinkAt(view.latitude);
  return [x, height / 2 - (latitude - view.latitude) * view.scale];
}

function nearest(cars: Iterable<Position>, [x, y]: readonly [number, number], frame: Frame): string | undefined {
  let [found, least]: [string | undefined, number] = [undefined, CLICK_RADIUS_PX];
  for (const one of cars) {
    const [px, py] = placeOf(one, frame);
    const distance = Math.hypot(px - x, py - y);
    if (distance < least) [found, least] = [one[0], distance];
  }
  return found;
}

interface DrawOptions extends Frame {
  readonly cars: ReadonlyMap<string, Position>;
  readonly pointed: string | undefined;
  readonly map: LandMap | undefined;
}

function draw(canvas: HTMLCanvasElement, options: DrawOptions): void {
  const { width, height, cars, pointed } = options;
  const ratio = devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  if (context === null) return;
  const style = getComputedStyle(canvas);
  /** A canvas supports neither variables nor light-dark(), but an element's computed style has the colour. */
  const colour = (name: string): string => {
    canvas.style.color = `var(${name})`;
    return style.color;
  };
  context.scale(ratio, ratio);
  context.font = '11px system-ui, sans-serif';
  if (options.map !== undefined) drawLand(context, options, options.map, colour);
  drawGrid(context, options, colour);
  // Cars by the age of their data: the newest are drawn on top.
  const byAge: Record<Age, (readonly [number, number])[]> = { minute: [], hour: [], day: [], older: [] };
  /**
   * Ages and places that already have a mark. Of several cars of the same age at about the same place only one is
   * drawn, because drawing ten thousand marks takes too long.
   */
  const drawn = new Set<string>();
  const now = carNow();
  for (const one of cars.values()) {
    const place = placeOf(one, options);
    const [x, y] = place;
    if (x > -DOT_RADIUS_PX && y > -DOT_RADIUS_PX && x < width + DOT_RADIUS_PX && y < height + DOT_RADIUS_PX) {
      const age = ageOfSilence(now - one[3]);
      const cell = `${age} ${Math.round(x / DOT_RADIUS_PX)} ${Math.round(y / DOT_RADIUS_PX)}`;
      if (drawn.has(cell)) continue;
      drawn.add(cell);
      byAge[age].push(place);
    }
  }
  for (const age of ages.toReversed()) drawCars(context, age, byAge[age], colour);
  const marked = pointed === undefined ? undefined : cars.get(pointed);
  if (marked === undefined) return;
  const [x, y] = placeOf(marked, options);
  context.strokeStyle = colour('--ink');
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, DOT_RADIUS_PX + 5, 0, 2 * Math.PI);
  context.stroke();
}

/** Draws the marks with the same shapes as in the list: filled, ring, triangle, square. */
function drawCars(
  context: CanvasRenderingContext2D,
  age: Age,
  places: readonly (readonly [number, number])[],
  colour: (name: string) => string,
): void {
  context.beginPath();
  for (const [x, y] of places) {
    if (age === 'day') {
      context.moveTo(x, y - DOT_RADIUS_PX - 1);
      context.lineTo(x + DOT_RADIUS_PX + 1, y + DOT_RADIUS_PX);
      context.lineTo(x - DOT_RADIUS_PX - 1, y + DOT_RADIUS_PX);
      context.closePath();
    } else if (age === 'older') {
      context.rect(x - DOT_RADIUS_PX + 1, y - DOT_RADIUS_PX + 1, 2 * DOT_RADIUS_PX - 2, 2 * DOT_RADIUS_PX - 2);
    } else {
      context.moveTo(x + DOT_RADIUS_PX, y);
      context.arc(x, y, DOT_RADIUS_PX, 0, 2 * Math.PI);
    }
  }
  context.fillStyle = colour({ minute: '--live', hour: '--surface', day: '--warn-fill', older: '--stale' }[age]);
  context.strokeStyle = colour(age === 'hour' ? '--live' : '--surface');
  context.lineWidth = age === 'hour' ? 2 : 1;
  // Rings are drawn on discs. The edges of other marks are below all marks, so that they hide none of them.
  if (age === 'hour') context.fill();
  context.stroke();
  if (age !== 'hour') context.fill();
}

/** Draws the visible land on the sea. */
function drawLand(
  context: CanvasRenderingContext2D,
  options: DrawOptions,
  map: LandMap,
  colour: (name: string) => string,
): void {
  const { width, height, view } = options;
  const [across, down] = [width / 2 / (view.scale * shrinkAt(view.latitude)), height / 2 / view.scale];
  const part = partIn(map, {
    west: view.longitude - across,
    east: view.longitude + across,
    south: view.latitude - down,
    north: view.latitude + down,
  });
  context.fillStyle = colour('--sea');
  context.fillRect(0, 0, width, height);
  const path = (line: readonly Place[]): void => {
    for (const [at, place] of line.entries()) {
      const [x, y] = projected(place, options);
      if (at === 0) context.moveTo(x, y);
      else context.lineTo(x, y);
    }
  };
  context.beginPath();
  for (const ring of part.land) path(ring);
  context.fillStyle = colour('--land');
  context.fill();
  context.beginPath();
  for (const line of part.borders) path(line);
  context.strokeStyle = colour('--edge');
  context.lineWidth = 1;
  context.stroke();
  context.fillStyle = colour('--ink-3');
  for (const { name, x, y } of namedCities(part, (place) => projected(place, options))) {
    context.fillRect(x - 1.5, y - 1.5, 3, 3);
    context.fillText(name, x + 5, y + 4);
  }
}

/** Draws lines of latitude and longitude with their degrees, and a scale. */
function drawGrid(
  context: CanvasRenderingContext2D,
  { width, height, view }: DrawOptions,
  colour: (name: string) => string,
): void {
  const shrink = shrinkAt(view.latitude);
  const step =
    GRID_STEPS_DEGREES.find((_, index) => (GRID_STEPS_DEGREES[index + 1] ?? 0) * view.scale * shrink < MIN_GRID_PX) ??
    0.001;
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const name = (degrees: number, letters: string): string =>
    `${numberOf(Math.abs(degrees), 10 ** -decimals)}° ${letters[degrees < 0 ? 1 : 0]}`;
  context.strokeStyle = colour('--line');
  context.fillStyle = colour('--ink-3');
  context.lineWidth = 1;
  context.beginPath();
  const [across, down] = [width / 2 / (view.scale * shrink), height / 2 / view.scale];
  for (let at = Math.ceil((view.longitude - across) / step) * step; at < view.longitude + across; at += step) {
    const x = Math.round(width / 2 + (at - view.longitude) * view.scale * shrink) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, height);
    if (x > 40 && x < width - BUTTONS_WIDTH_PX) context.fillText(name(at, 'EW'), x + 4, height - 6);
  }
  for (let at = Math.ceil((view.latitude - down) / step) * step; at < view.latitude + down; at += step) {
    const y = Math.round(height / 2 - (at - view.latitude) * view.scale) + 0.5;
    context.moveTo(0, y);
    context.lineTo(width, y);
    if (y > 16 && y < height - 40) context.fillText(name(at, 'NS'), 4, y - 4);
  }
  context.stroke();
  const km = stepOf((MIN_GRID_PX * KM_PER_DEGREE) / view.scale);
  const length = (km / KM_PER_DEGREE) * view.scale;
  context.strokeStyle = colour('--ink');
  context.fillStyle = colour('--ink');
  context.beginPath();
  context.moveTo(12.5, height - 34);
  context.lineTo(12.5, height - 28.5);
  context.lineTo(12.5 + length, height - 28.5);
  context.lineTo(12.5 + length, height - 34);
  context.stroke();
  context.fillText(km < 1 ? `${numberOf(km * 1_000, 1)} m` : `${numberOf(km, 1)} km`, 17, height - 34);
}

/** Returns 1, 2 or 5 times a power of ten: the largest such number that is at most `most`. */
function stepOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return power * ([5, 2].find((one) => one * power <= most) ?? 1);
}
