/** View 3, the journey: trips with the energy they used, the track of one trip, and events over time. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { store } from '../shared/car-store.ts';
import { ask } from '../shared/connection.ts';
import { ageOf, numberOf, timeOf } from '../shared/format.ts';
import { type Read, useRecords, useTopics, useValue } from '../shared/hooks.ts';
import { codeInWords } from '../shared/words.ts';
import {
  type Journey,
  type JourneyEvent,
  placeAt,
  readingAt,
  readJourney,
  readTrack,
  type Track,
  type Trip,
} from './journey-records.ts';
import { Timeline } from './timeline.tsx';
import { TrackMap } from './track.tsx';
import { gpxOf, save, trackCsv, tripsCsv } from './track-files.ts';
import { TripClassChoice } from './trip-class.tsx';

const DAY_MS = 86_400_000;
const PERIODS = [
  { name: 'Last 24 hours', span: DAY_MS },
  { name: 'Last 7 days', span: 7 * DAY_MS },
  { name: 'Last 31 days', span: 31 * DAY_MS },
];
/** Time between two reads of the journey. */
const POLL_INTERVAL_MS = 10_000;
/** Time after the end of a trip by which the car has recorded its last points. */
const TRIP_SETTLED_MS = 120_000;
/** Largest number of rows in the list of events. */
const MAX_ROWS = 200;
const NOTHING: Track = { points: [], readings: [], interruptions: [] };

/** Reads the track of a trip. The track of an open trip is read again whenever the journey is. */
function useTrack(trip: Trip | undefined, readAt: number): Read<Track> {
  const [read, setRead] = useState<Read<Track> & { readonly id?: string }>({});
  const settled = trip === undefined || (trip.done === true && trip.to < readAt - TRIP_SETTLED_MS);
  const version = `${trip?.id} ${settled ? 'settled' : readAt}`;
  // The version identifies the trip and how much of it the page knows.
  useEffect(() => {
    if (trip === undefined) return;
    let ended = false;
    const done = (what: Read<Track>): void => {
      if (!ended) setRead({ ...what, id: trip.id });
    };
    readTrack(trip).then(
      (data) => done({ data }),
      (error: Error) => done({ fault: error.message }),
    );
    return () => {
      ended = true;
    };
  }, [version]);
  return read.id === trip?.id ? read : {};
}

export function JourneyPanels(): JSX.Element {
  useTopics('connection');
  const [span, setSpan] = useState(DAY_MS);
  const { data: journey, fault } = useRecords(() => readJourney(span), POLL_INTERVAL_MS, span, 'event');
  const [chosen, setChosen] = useState<string>();
  /** True if the time line shows the period instead of one trip. */
  const [whole, setWhole] = useState(false);
  /** Undefined for the newest time. */
  const [moment, setMoment] = useState<number>();
  const trip = journey?.trips.find(({ id }) => id === chosen) ?? journey?.trips.at(-1);
  const { data: track = NOTHING, fault: trackFault } = useTrack(trip, journey?.to ?? 0);
  if (journey === undefined) {
    return (
      <p
        class={fault === undefined ? 'panel reading' : 'panel reading bad'}
        role={fault === undefined ? undefined : 'alert'}
      >
        {fault ?? 'Reads the journey …'}
      </p>
    );
  }
  const { from, to } = whole || trip === undefined ? journey : trip;
  const at = Math.min(to, Math.max(from, moment ?? to));
  /** Moves to a time, and chooses the trip at that time. */
  const move = (next: number): void => {
    setMoment(next);
    const passed = journey.trips.findLast((one) => one.from <= next && next <= one.to);
    if (passed !== undefined) setChosen(passed.id);
    if (next < from || next > to) setWhole(passed === undefined);
  };
  const choose = (next: Trip): void => {
    setChosen(next.id);
    setMoment(next.done === true ? next.from : undefined);
  };
  const within = journey.events.filter((one) => one.from <= to && (one.to ?? one.from) >= from);
  return (
    <div class="journey-grid">
      <Trips {...{ journey, trip, choose, span, setSpan }} />
      <section class="panel" aria-labelledby="track-title">
        <header>
          <h2 id="track-title">Track</h2>
          <span class="note" data-testid="moment">
            {timeOf(at)}
          </span>
        </header>
        <Privacy />
        {trackFault !== undefined && (
          <p class="remark bad" role="alert">
            {trackFault}
          </p>
        )}
        {track.remark !== undefined && <p class="remark">{track.remark}</p>}
        {track.points.length > 0 && <TrackMap points={track.points} at={at} events={within} />}
        <Moment track={track} at={at} />
        {trip !== undefined && store.source === 'hub' && <TripClassChoice trip={trip} />}
        {trip !== undefined && <Files {...{ trip, track, journey }} />}
      </section>
      <section class="panel times" aria-labelledby="times-title">
        <header>
          <h2 id="times-title">Time line</h2>
          <button type="button" class="btn" aria-pressed={whole} onClick={() => setWhole(!whole)}>
            Whole period
          </button>
          <span class="note">Arrows move it by 1 s, Page Up and Page Down by 1 min</span>
        </header>
        <Timeline {...{ journey, from, to, at, track, chosen: trip?.id, move }} />
        <Events events={within} move={move} />
        {[...journey.remarks, ...(fault === undefined ? [] : [fault])].map((remark) => (
          <p key={remark} class="remark">
            {remark}
          </p>
        ))}
      </section>
    </div>
  );
}

interface TripsOptions {
  readonly journey: Journey;
  readonly trip: Trip | undefined;
  readonly choose: (trip: Trip) => void;
  readonly span: number;
  readonly setSpan: (span: number) => void;
}

function Trips({ journey, trip, choose, span, setSpan }: TripsOptions): JSX.Element {
  const newestFirst = [...journey.trips].reverse();
  return (
    <section class="panel trips" aria-labelledby="trips-title">
      <header>
        <h2 id="trips-title">Trips</h2>
        <select
          class="field"
          aria-label="Period"
          value={span}
          onChange={(event) => setSpan(Number(event.currentTarget.value))}
        >
          {PERIODS.map((period) => (
            <option key={period.span} value={period.span}>
              {period.name}
            </option>
          ))}
        </select>
      </header>
      {newestFirst.length === 0 && <p class="none">No trip in this period. A trip begins after the first 20 m.</p>}
      <div class="trip-list">
        <fieldset aria-label="Trips">
          {newestFirst.map((one) => (
            <label key={one.id} class={one === trip ? 'chosen' : ''}>
              <input type="radio" name="trip" checked={one === trip} onChange={() => choose(one)} />
              <b>
                {new Date(one.from).toLocaleDateString(undefined, { day: 'numeric', month: 'short' })}{' '}
                {timeOf(one.from)}
              </b>
              <span class="far">{one.distance === undefined ? '' : `${numberOf(one.distance, 0.01)} km`}</span>
              <span class="spent">
                {one.done === true ? ageOf(one.to - one.from) : codeInWords('page', 'ongoing')}
                {(one.energyConsumptions ?? []).map(({ type, consumption }) =>
                  consumption === undefined
                    ? ''
                    : `, ${type === 'Electric' ? 'electric' : 'fuel'} ${numberOf(consumption, 0.01)} ${type === 'Electric' ? 'kWh' : 'L'}`,
                )}
                {(one.faults ?? []).map(({ cause }) => `, ${causes[cause ?? ''] ?? 'data are missing'}`)}
              </span>
            </label>
          ))}
        </fieldset>
      </div>
    </section>
  );
}

const causes: Readonly<Record<string, string>> = {
  GeoPrivacy: 'position hidden',
  FullPrivacy: 'hidden by the driver',
};

function Privacy(): JSX.Element | null {
  const state = useValue('privacy.state')?.value;
  if (state !== 'Geolocation' && state !== 'Full') return null;
  return (
    <p class="remark warn" data-testid="private">
      <i class="mark warn" aria-hidden="true" />
      {state === 'Full' ? 'The driver hides the position and all other values.' : 'The driver hides the position.'}
    </p>
  );
}

/** Shows the car at the selected time. */
function Moment({ track, at }: { readonly track: Track; readonly at: number }): JSX.Element {
  const { speed, levels } = readingAt(track, at);
  const place = placeAt(track.points, at);
  const facts = [
    ['Speed', speed === undefined ? 'unknown' : `${numberOf(Math.abs(speed), 0.1)} km/h`],
    ...Object.entries(levels).map(([energy, level]) => [
      energy === 'Electric' ? 'Battery' : energy,
      `${numberOf(level, 0.1)} %`,
    ]),
    [
      'Position',
      place === undefined ? 'unknown' : `${numberOf(place.latitude, 0.00001)}, ${numberOf(place.longitude, 0.00001)}`,
    ],
  ];
  return (
    <dl class="moment-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd data-testid={`moment ${name}`}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface FilesOptions {
  readonly trip: Trip;
  readonly track: Track;
  readonly journey: Journey;
}

function Files({ trip, track, journey }: FilesOptions): JSX.Element {
  const begin = new Date(trip.from).toISOString().slice(0, 19).replaceAll(':', '');
  const name = `${store.car?.vin ?? 'trip'} ${begin}`;
  const events = journey.events.filter((one) => one.from >= trip.from && one.from <= trip.to);
  return (
    <p class="row-of-buttons files">
      {track.points.length > 0 && (
        <button
          type="button"
          class="btn"
          onClick={() => save(`${name}.gpx`, 'application/gpx+xml', gpxOf(name, track, events))}
        >
          Save GPX
        </button>
      )}
      <button type="button" class="btn" onClick={() => save(`${name}.csv`, 'text/csv', trackCsv(track))}>
        Save CSV of this trip
      </button>
      <button type="button" class="btn" onClick={() => save('trips.csv', 'text/csv', tripsCsv(journey.trips))}>
        Save CSV of all trips
      </button>
    </p>
  );
}

/** Downloads the frames of a capture. The request contains the credentials, which a plain link could not send. */
function Frames({ id, path }: { readonly id: string; readonly path: string }): JSX.Element {
  const [fault, setFault] = useState<string>();
  const load = async (): Promise<void> => {
    setFault(undefined);
    const frames = await (await ask(path)).text();
    save(`${id.replace(' ', '-').toLowerCase()}.log`, 'text/plain', frames);
  };
  return (
    <>
      {' '}
      <button type="button" class="btn small" onClick={() => load().catch((error: Error) => setFault(error.message))}>
        Save frames
      </button>
      {fault !== undefined && (
        <span class="bad" role="alert">
          {' '}
          {fault}
        </span>
      )}
    </>
  );
}

interface EventsOptions {
  readonly events: readonly JourneyEvent[];
  readonly move: (at: number) => void;
}

/** Lists the events of the drawing above. A click moves the time line to the event. */
function Events({ events, move }: EventsOptions): JSX.Element {
  const newest = [...events].reverse().slice(0, MAX_ROWS);
  if (newest.length === 0) return <p class="none">Nothing happened in this time.</p>;
  return (
    <ul class="happened" aria-label="Events">
      {newest.map(({ id, kind, from, to, open, text, severity, log }) => (
        <li key={id}>
          <button type="button" class="btn" onClick={() => move(from)}>
            {timeOf(from)}
          </button>
          <span>
            {text}{' '}
            <span class="note">
              {kind}
              {severity === undefined ? '' : `, ${severity.toLowerCase()}`}
              {open ? `, ${codeInWords('page', 'ongoing')}` : to === undefined ? '' : `, ${ageOf(to - from)}`}
            </span>
            {log !== undefined && <Frames id={id} path={log} />}
          </span>
        </li>
      ))}
      {events.length > newest.length && (
        <li class="note">{events.length - newest.length} older ones are not listed.</li>
      )}
    </ul>
  );
}
