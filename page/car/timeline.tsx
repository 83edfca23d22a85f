/** Trips, speed and events over time, with a cursor that mouse and keys move. */
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { numberOf, timeOf } from '../shared/format.ts';
import { useWidth } from '../shared/hooks.ts';
import {
  type EventKind,
  eventKinds,
  type Interruption,
  type Journey,
  type Reading,
  readingAt,
  type Track,
} from './journey-records.ts';

/** Width of the labels. */
const LABELS_WIDTH_PX = 72;
const LANE_HEIGHT_PX = 22;
const CURVE_HEIGHT_PX = 64;
const AXIS_HEIGHT_PX = 20;
/** Shortest distance between two time labels. */
const MIN_TICK_DISTANCE_PX = 96;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const steps = [1, 2, 5, 10, 30]
  .map((count) => count * SECOND_MS)
  .concat([1, 2, 5, 10, 30].map((count) => count * MINUTE_MS))
  .concat([1, 3, 6, 12].map((count) => count * HOUR_MS))
  .concat([1, 2, 7].map((count) => count * DAY_MS));

interface TimelineOptions {
  readonly journey: Journey;
  /** UTC ms. */
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly track: Pick<Track, 'readings' | 'interruptions'>;
  readonly chosen: string | undefined;
  readonly move: (at: number) => void;
}

export function Timeline({ journey, from, to, at, track, chosen, move }: TimelineOptions): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const plot = Math.max(1, width - LABELS_WIDTH_PX - 8);
  const x = (time: number): number => LABELS_WIDTH_PX + ((time - from) / Math.max(1, to - from)) * plot;
  const isShown = (one: { readonly from: number; readonly to?: number | undefined }): boolean =>
    one.from <= to && (one.to ?? one.from) >= from;
  const trips = journey.trips.filter(isShown);
  const events = journey.events.filter(isShown);
  // Kinds that have no events in the whole period need no space.
  const kinds = eventKinds.filter((kind) => journey.events.some((one) => one.kind === kind));
  const lane = (index: number): number => CURVE_HEIGHT_PX + 8 + index * LANE_HEIGHT_PX;
  const height = lane(kinds.length + 1) + AXIS_HEIGHT_PX;
  const { speed } = readingAt(track, at);
  const key = (event: KeyboardEvent): void => {
    const change = { PageUp: MINUTE_MS, PageDown: -MINUTE_MS }[event.key];
    if (change === undefined) return;
    event.preventDefault();
    move(Math.min(to, Math.max(from, at + change)));
  };
  return (
    <div class="timeline" ref={box}>
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${trips.length} trips and ${events.length} events from ${timeOf(from)} to ${timeOf(to)}.`}
      >
        <Ticks {...{ from, to, plot, x, height }} />
        <Curve {...{ ...track, from, to, x }} until={Math.min(to, trips.find(({ id }) => id === chosen)?.to ?? to)} />
        <text class="axis" x="0" y={lane(0) + 15}>
          Trips
        </text>
        {trips.map((trip) => {
          const [left, right] = [Math.max(x(from), x(trip.from)), Math.min(x(to), x(trip.to))];
          const shown = trip.id === chosen ? 'trip chosen' : 'trip';
          return (
            <rect key={trip.id} class={shown} x={left} y={lane(0) + 5} width={Math.max(2, right - left)} height="12" />
          );
        })}
        {kinds.map((kind, index) => (
          <g key={kind}>
            <path class="grid" d={`M${LABELS_WIDTH_PX} ${lane(index + 1)}H${width}`} />
            <text class="axis" x="0" y={lane(index + 1) + 15}>
              {namesOfKinds[kind]}
            </text>
            {events
              .filter((one) => one.kind === kind)
              .map((one) => {
                const left = Math.max(x(from), x(one.from));
                return (
                  <g key={one.id}>
                    {one.to !== undefined && (
                      <path
                        class={`lasts ${kind}`}
                        d={`M${left} ${lane(index + 1) + 11}H${Math.min(x(to), x(one.to))}`}
                      />
                    )}
                    <Mark kind={kind} x={left} y={lane(index + 1) + 11} />
                  </g>
                );
              })}
          </g>
        ))}
      </svg>
      <input
        type="range"
        class="moment"
        aria-label="Moment"
        aria-valuetext={`${timeOf(at)}${speed === undefined ? '' : `, ${numberOf(speed, 0.1)} km/h`}`}
        min={from}
        max={to}
        step={SECOND_MS}
        value={at}
        onInput={(event) => move(Number(event.currentTarget.value))}
        onKeyDown={key}
      />
    </div>
  );
}

const namesOfKinds: Readonly<Record<EventKind, string>> = {
  Alert: 'Alerts',
  Collision: 'Collisions',
  Alarm: 'Alarms',
  Theft: 'Thefts',
  Service: 'Service',
  Fault: 'Faults',
  Capture: 'Captures',
};

const shapes: Readonly<Record<EventKind, string>> = {
  Alert: 'M0 -6L6 5H-6Z',
  Collision: 'M-5 -5L5 5M5 -5L-5 5',
  Alarm: 'M0 -6L6 0L0 6L-6 0Z',
  Theft: 'M-5 -5H5V5H-5Z',
  Service: 'M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0',
  Fault: 'M-6 -5H6L0 6Z',
  Capture: 'M-5 -4V4M5 -4V4M-5 0H5',
};

interface MarkOptions {
  readonly kind: EventKind;
  readonly x: number;
  readonly y: number;
}

/** Draws a mark. Each kind has a different shape and colour. */
export function Mark({ kind, x, y }: MarkOptions): JSX.Element {
  return <path class={`event ${kind}`} transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`} d={shapes[kind]} />;
}

interface TicksOptions {
  readonly from: number;
  readonly to: number;
  readonly plot: number;
  readonly x: (time: number) => number;
  readonly height: number;
}

/** Draws ticks at whole seconds, minutes, hours or days in the reader's time zone. */
function Ticks({ from, to, plot, x, height }: TicksOptions): JSX.Element {
  const least = ((to - from) * MIN_TICK_DISTANCE_PX) / plot;
  const step = steps.find((one) => one >= least) ?? Math.ceil(least / DAY_MS) * DAY_MS;
  const shift = new Date(from).getTimezoneOffset() * MINUTE_MS;
  const ticks: number[] = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step) ticks.push(at);
  const text = (at: number): string => {
    const date = new Date(at);
    if (step >= DAY_MS) return date.toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
    return date.toLocaleTimeString(undefined, {
      hour: '2-digit',
      minute: '2-digit',
      ...(step < MINUTE_MS ? { second: '2-digit' } : {}),
    });
  };
  return (
    <>
      {ticks.map((at) => (
        <g key={at}>
          <path class="grid" d={`M${x(at).toFixed(1)} 0V${height - AXIS_HEIGHT_PX + 4}`} />
          <text class="axis" x={x(at)} y={height - 4} text-anchor="middle">
            {text(at)}
          </text>
        </g>
      ))}
    </>
  );
}

interface CurveOptions {
  /** End of the line in UTC ms. */
  readonly until: number;
  readonly readings: readonly Reading[];
  readonly interruptions: readonly Interruption[];
  readonly from: number;
  readonly to: number;
  readonly x: (time: number) => number;
}

/** Draws the speed of the chosen trip, with a gap for each interruption. */
function Curve({ readings, interruptions, from, to, until, x }: CurveOptions): JSX.Element {
  const speeds = readings.flatMap(({ at, speed }) =>
    speed === undefined || at < from || at > to ? [] : [[at, Math.max(0, speed)] as const],
  );
  const highest = speeds.reduce((most, [, speed]) => Math.max(most, speed), 0);
  const top = Math.max(40, Math.ceil(highest / 40) * 40);
  const y = (speed: number): number => CURVE_HEIGHT_PX - (speed / top) * (CURVE_HEIGHT_PX - 12);
  // A speed is valid until the next one; the last speed of an open trip is valid until now.
  const last = speeds.at(-1);
  if (last !== undefined) speeds.push([until, last[1]]);
  const shown = interruptions.filter((one) => one.from <= to && one.to >= from);
  const line = speeds.map(([at, speed], index) => {
    const previous = speeds[index - 1]?.[0] ?? Number.NEGATIVE_INFINITY;
    const begins = index === 0 || shown.some((one) => previous < one.to && one.to <= at);
    return `${begins ? 'M' : 'L'}${x(at).toFixed(1)} ${y(speed).toFixed(1)}`;
  });
  return (
    <>
      <text class="axis" x="0" y={CURVE_HEIGHT_PX}>
        Speed
      </text>
      <text class="axis" x={LABELS_WIDTH_PX - 6} y={y(top) + 4} text-anchor="end">
        {top}
      </text>
      {speeds.length > 1 && <path class="curve" d={line.join('')} />}
      {shown.map((one) => (
        <g key={one.from}>
          <rect
            class="interruption"
            x={x(one.from)}
            y="12"
            width={Math.max(2, x(one.to) - x(one.from))}
            height={CURVE_HEIGHT_PX - 12}
          />
          <text class="axis" x={(x(one.from) + x(one.to)) / 2} y={CURVE_HEIGHT_PX / 2 + 8} text-anchor="middle">
            no readings
          </text>
        </g>
      ))}
    </>
  );
}
