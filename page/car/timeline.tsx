/** Trips, speed and events over time, with a moment that mouse and keys move. */
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

/** px */
const LABELS = 72;
const LANE = 22;
const CURVE = 64;
const AXIS = 20;
/** Least distance of two labels of time. */
const TICK = 96;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const steps = [1, 2, 5, 10, 30]
  .map((count) => count * SECOND)
  .concat([1, 2, 5, 10, 30].map((count) => count * MINUTE))
  .concat([1, 3, 6, 12].map((count) => count * HOUR))
  .concat([1, 2, 7].map((count) => count * DAY));

export interface TimelineOptions {
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
  const plot = Math.max(1, width - LABELS - 8);
  const x = (time: number): number => LABELS + ((time - from) / Math.max(1, to - from)) * plot;
  const isShown = (one: { readonly from: number; readonly to?: number | undefined }): boolean =>
    one.from <= to && (one.to ?? one.from) >= from;
  const trips = journey.trips.filter(isShown);
  const events = journey.events.filter(isShown);
  // A kind of which nothing happened in the whole period takes no room.
  const kinds = eventKinds.filter((kind) => journey.events.some((one) => one.kind === kind));
  const lane = (index: number): number => CURVE + 8 + index * LANE;
  const height = lane(kinds.length + 1) + AXIS;
  const { speed } = readingAt(track, at);
  const key = (event: KeyboardEvent): void => {
    const change = { PageUp: MINUTE, PageDown: -MINUTE }[event.key];
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
            <path class="grid" d={`M${LABELS} ${lane(index + 1)}H${width}`} />
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
        step={SECOND}
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

export interface MarkOptions {
  readonly kind: EventKind;
  readonly x: number;
  readonly y: number;
}

/** Each kind has a shape and a colour. */
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

/** Whole seconds, minutes, hours or days of the reader's time. */
function Ticks({ from, to, plot, x, height }: TicksOptions): JSX.Element {
  const least = ((to - from) * TICK) / plot;
  const step = steps.find((one) => one >= least) ?? Math.ceil(least / DAY) * DAY;
  const shift = new Date(from).getTimezoneOffset() * MINUTE;
  const ticks: number[] = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step) ticks.push(at);
  const text = (at: number): string => {
    const date = new Date(at);
    if (step >= DAY) return date.toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
    return date.toLocaleTimeString(undefined, {
      hour: '2-digit',
      minute: '2-digit',
      ...(step < MINUTE ? { second: '2-digit' } : {}),
    });
  };
  return (
    <>
      {ticks.map((at) => (
        <g key={at}>
          <path class="grid" d={`M${x(at).toFixed(1)} 0V${height - AXIS + 4}`} />
          <text class="axis" x={x(at)} y={height - 4} text-anchor="middle">
            {text(at)}
          </text>
        </g>
      ))}
    </>
  );
}

interface CurveOptions {
  /** Where the line ends, UTC ms. */
  readonly until: number;
  readonly readings: readonly Reading[];
  readonly interruptions: readonly Interruption[];
  readonly from: number;
  readonly to: number;
  readonly x: (time: number) => number;
}

/** Speed of the chosen trip, without a line where nothing was read. */
function Curve({ readings, interruptions, from, to, until, x }: CurveOptions): JSX.Element {
  const speeds = readings.flatMap(({ at, speed }) =>
    speed === undefined || at < from || at > to ? [] : [[at, Math.max(0, speed)] as const],
  );
  const highest = speeds.reduce((most, [, speed]) => Math.max(most, speed), 0);
  const top = Math.max(40, Math.ceil(highest / 40) * 40);
  const y = (speed: number): number => CURVE - (speed / top) * (CURVE - 12);
  // A speed holds until the next; that of a car on its way until now.
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
      <text class="axis" x="0" y={CURVE}>
        Speed
      </text>
      <text class="axis" x={LABELS - 6} y={y(top) + 4} text-anchor="end">
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
            height={CURVE - 12}
          />
          <text class="axis" x={(x(one.from) + x(one.to)) / 2} y={CURVE / 2 + 8} text-anchor="middle">
            no readings
          </text>
        </g>
      ))}
    </>
  );
}
