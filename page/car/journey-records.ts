/** Trips, tracks and events of a period, for the journey view. */
import type { TripClass, TripClassesPage } from '../../protocol/interface/own/trip-classes.ts';
import { type IncidentKind, incidentKinds } from '../shared/addresses.ts';
import { store } from '../shared/car-store.ts';
import { askJson, carNow, Refused, sideOfCredentials } from '../shared/connection.ts';
import { numberOf } from '../shared/format.ts';
import { wordsOfIncident } from '../shared/incident-words.ts';
import {
  type CaptureJson,
  type Energy,
  type EventJson,
  type FaultJson,
  type Feature,
  type Newest,
  newestOf,
  pathOf,
  type SampleJson,
  type ServiceJson,
  type TripJson,
  vehicleLinks,
} from '../shared/records.ts';
import { valueInWords, wordsNow } from '../shared/words.ts';

export const eventKinds = [...incidentKinds, 'Service', 'Fault', 'Capture'] as const;
export type EventKind = (typeof eventKinds)[number];

export interface JourneyEvent {
  readonly id: string;
  readonly kind: EventKind;
  /** UTC ms. */
  readonly from: number;
  /** End in UTC ms. If omitted, the event has no duration. */
  readonly to?: number | undefined;
  /** True if the event has not yet ended. */
  readonly open: boolean;
  readonly text: string;
  readonly severity?: string | undefined;
  /** True for events that require attention. False, for example, for the arming of an alarm. */
  readonly incident?: boolean;
  /** Sides of the car that a collision hit. */
  readonly sides?: readonly string[];
  /** Address from which the frames of a capture can be downloaded. */
  readonly log?: string;
}

export interface Trip extends TripJson {
  readonly class?: TripClass | undefined;
  /** UTC ms. For an open trip, the time of the read. */
  readonly from: number;
  readonly to: number;
}

export interface Journey {
  readonly from: number;
  readonly to: number;
  readonly trips: readonly Trip[];
  readonly events: readonly JourneyEvent[];
  /** Reasons why the page does not show some records: they are too old, or the reader may not see them. */
  readonly remarks: readonly string[];
}

/** A position of the car. */
export interface Point {
  readonly at: number;
  readonly longitude: number;
  readonly latitude: number;
  readonly altitude?: number | undefined;
  readonly heading?: number | undefined;
  readonly speed?: number | undefined;
  /** True if the route to this point is unknown. */
  readonly gap: boolean;
}

/** A reading of values while driving: speed in km/h, and levels in % by energy. */
export interface Reading {
  readonly at: number;
  readonly speed?: number | undefined;
  readonly levels: Readonly<Record<string, number>>;
}

/** A period in UTC ms without readings: the agent or its source was off. */
export interface Interruption {
  readonly from: number;
  readonly to: number;
}

export interface Track {
  readonly points: readonly Point[];
  readonly readings: readonly Reading[];
  /** Sorted by time. */
  readonly interruptions: readonly Interruption[];
  /** Reason why there are no points. */
  readonly remark?: string | undefined;
}

/** Reads the journey of the last `span` ms. */
export async function readJourney(span: number): Promise<Journey> {
  const links = await vehicleLinks();
  const to = carNow();
  const from = to - span;
  const period = periodFrom(from);
  const remarks: string[] = [];
  const read = async <T>(name: string, words: string): Promise<readonly T[]> => {
    const link = links[name];
    if (link === undefined) {
      // Only fleets may read thefts.
      if (name !== 'stolen') remarks.push(`You may not read ${words}.`);
      return [];
    }
    const { items, total } = await allowed(newestOf<T>(`${link}?${period}`), words, remarks);
    if (items.length < total) {
      remarks.push(`Of ${numberOf(total, 1)} ${words} the page reads the newest ${numberOf(items.length, 1)}.`);
    }
    return items;
  };
  const trips = await read<TripJson>('trips', 'trips');
  const classes = trips.length === 0 ? undefined : await readTripClasses(remarks);
  const incidents: JourneyEvent[] = [];
  for (const [kind, name, words] of incidentRecords) {
    incidents.push(...eventsOf(kind, await read<EventJson>(name, words)));
  }
  const events = [
    ...incidents,
    ...(await readService(links['maintenance'], remarks)),
    ...(await readFaults(remarks)),
    ...(await readCaptures(remarks)),
  ];
  return {
    from,
    to,
    trips: trips.map((trip) => ({
      ...trip,
      class: classes?.get(trip.id),
      energyConsumptions: (trip.energyConsumptions ?? []).map(inLargeUnits),
      from: Date.parse(trip.startedAt ?? trip.createdAt),
      to: trip.stoppedAt === undefined ? to : Date.parse(trip.stoppedAt),
    })),
    events: events.filter((one) => (one.to ?? one.from) >= from).sort((a, b) => a.from - b.from),
    remarks,
  };
}

/** Collections of records that contain incidents: kind, link and name. */
const incidentRecords = [
  ['Alert', 'alerts', 'alerts'],
  ['Collision', 'collisions', 'collisions'],
  ['Alarm', 'alarms', 'alarms'],
  ['Theft', 'stolen', 'thefts'],
] as const;

/** Returns the newest incidents of the last `span` ms, newest first. */
export async function readIncidents(span: number): Promise<readonly JourneyEvent[]> {
  const links = await vehicleLinks();
  const period = periodFrom(carNow() - span);
  const found = await Promise.all(
    incidentRecords.map(async ([kind, name, words]) => {
      const link = links[name];
      if (link === undefined) return [];
      const { items } = await allowed(newestOf<EventJson>(`${link}?${period}`, 1), words, []);
      return eventsOf(kind, items);
    }),
  );
  return found
    .flat()
    .filter(({ incident }) => incident)
    .sort((a, b) => b.from - a.from);
}

function periodFrom(from: number): string {
  return `timestamps=${encodeURIComponent(`${new Date(from).toISOString()}/`)}&pageSize=60`;
}

export async function readTrack({ _links, faults = [] }: Trip): Promise<Track> {
  const remarks: string[] = [];
  const all = async <T>(link: { readonly href: string } | undefined, words: string): Promise<readonly T[]> => {
    if (link === undefined) {
      remarks.push(`You may not read ${words}.`);
      return [];
    }
    const { items, total } = await allowed(newestOf<T>(`${pathOf(link)}?pageSize=2000`), words, remarks);
    if (items.length < total) {
      remarks.push(`Of ${numberOf(total, 1)} ${words} the page reads the newest ${numberOf(items.length, 1)}.`);
    }
    return items;
  };
  const points = (await all<Feature>(_links.waypoints, 'positions')).map(pointOf);
  const samples = await all<SampleJson>(_links.telemetry, 'readings');
  const hidden = faults.some(({ cause }) => cause === 'GeoPrivacy' || cause === 'FullPrivacy');
  if (points.length === 0 && remarks.length === 0) {
    remarks.push(hidden ? 'The driver hid the position on this trip.' : 'This trip has no position yet.');
  }
  const readings = samples.flatMap(readingOf);
  const times = samples.map(({ createdAt }) => Date.parse(createdAt));
  return { points, readings, interruptions: interruptionsOf(points, times), remark: remarks[0] };
}

/**
 * Returns the gaps of the track in which no readings arrived either. In a tunnel, only the track has a gap; at constant
 * speed there are fewer readings, but the track has no gap. `times`: times of all readings, ascending.
 */
function interruptionsOf(points: readonly Point[], times: readonly number[]): Interruption[] {
  return points.flatMap(({ at: to, gap }, index) => {
    const from = points[index - 1]?.at;
    if (!gap || from === undefined) return [];
    const middle = (from + to) / 2;
    const next = times.findIndex((time) => time > middle);
    const [before, after] = [times[next - 1], times[next]];
    if (before === undefined || after === undefined) return [];
    const silent = Math.min(to, after) - Math.max(from, before);
    return silent > (to - from) / 2 ? [{ from: Math.max(from, before), to: after }] : [];
  });
}

/** Returns the car's position at a time, interpolated between two points. Undefined if the route there is unknown. */
export function placeAt(points: readonly Point[], at: number): Point | undefined {
  const next = points.findIndex((point) => point.at >= at);
  const after = points[next];
  const before = next === -1 ? points.at(-1) : points[next - 1];
  if (after === undefined || before === undefined || after.at === at) return after ?? before;
  if (after.gap) return undefined;
  const share = (at - before.at) / (after.at - before.at);
  return {
    at,
    longitude: before.longitude + share * (after.longitude - before.longitude),
    latitude: before.latitude + share * (after.latitude - before.latitude),
    gap: false,
  };
}

/** Longest delay in ms of the first readings after the start of a trip. They then apply from its start. */
const FIRST_READING_MS = 5_000;

/** Returns the last values at or before `at`. The speed is unknown during an interruption. */
export function readingAt(
  { readings, interruptions }: Pick<Track, 'readings' | 'interruptions'>,
  at: number,
): Omit<Reading, 'at'> {
  const first = readings.find((reading) => reading.speed !== undefined)?.at ?? at;
  if (at < first && first - at <= FIRST_READING_MS) at = first;
  let speed: number | undefined;
  let levels: Readonly<Record<string, number>> = {};
  for (const reading of readings) {
    if (reading.at > at) break;
    speed = reading.speed ?? speed;
    levels = { ...levels, ...reading.levels };
  }
  if (interruptions.some(({ from, to }) => from < at && at < to)) speed = undefined;
  return { speed, levels };
}

/** Converts to L and kWh, the units of the user side. The fleet side uses cL and Wh. */
function inLargeUnits(energy: Energy): Energy {
  const { type, consumption } = energy;
  if (consumption === undefined || sideOfCredentials() === 'user') return energy;
  return { ...energy, consumption: consumption / (type === 'Electric' ? 1_000 : 100) };
}

/** Reads one kind of record. If the server forbids it, adds a remark, and the other kinds are still shown. */
async function allowed<T>(reading: Promise<Newest<T>>, words: string, remarks: string[]): Promise<Newest<T>> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 403) throw error;
    remarks.push(`You may not read ${words}: ${error.message}`);
    return { items: [], total: 0 };
  }
}

async function readService(path: string | undefined, remarks: string[]): Promise<JourneyEvent[]> {
  if (path === undefined) return [];
  try {
    const { createdAt, daysBeforeMaintenance: days, mileageBeforeMaintenance: km } = await askJson<ServiceJson>(path);
    const due = [
      ...(days === undefined ? [] : [`in ${numberOf(days, 1)} days`]),
      ...(km === undefined ? [] : [`in ${numberOf(km, 1)} km`]),
    ];
    return [
      {
        id: 'service',
        kind: 'Service',
        from: Date.parse(createdAt),
        open: false,
        text: `Service due ${due.join(' or ')}`,
      },
    ];
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // 404: the car has not yet reported when the next service is due.
    if (error.status !== 404) remarks.push(`You may not read the next service: ${error.message}`);
    return [];
  }
}

/** Returns the path for data that are not in the published interface, either of the car or of the hub. */
export function pathOfCar(): string {
  return store.source === 'hub' ? `/vigie/v1/vehicles/${encodeURIComponent(store.car?.vin ?? '')}` : '/vigie/v1';
}

/** Reads the classes of all trips. A car keeps none. */
async function readTripClasses(remarks: string[]): Promise<ReadonlyMap<string, TripClass>> {
  const classes = new Map<string, TripClass>();
  if (store.source !== 'hub') return classes;
  for (let after = '', more = true; more; ) {
    const page = askJson<TripClassesPage>(`${pathOfCar()}/trip-classes${after}`);
    const { items } = await allowed(
      page.then((read) => {
        more = read.more;
        return { items: read.trips, total: read.trips.length };
      }),
      'classes of trips',
      remarks,
    );
    for (const trip of items) classes.set(trip.id, trip.class);
    after = `?after=${encodeURIComponent(items.at(-1)?.id ?? '')}`;
    more &&= items.length > 0;
  }
  return classes;
}

/** Reads fault codes as events that last from their first to their last report. */
async function readFaults(remarks: string[]): Promise<JourneyEvent[]> {
  if (store.car?.faults !== true) return [];
  const { items } = await allowed(
    askJson<{ readonly faults: readonly FaultJson[]; readonly more: boolean }>(`${pathOfCar()}/faults`).then(
      ({ faults, more }) => {
        if (more) remarks.push(`The page reads the newest ${numberOf(faults.length, 1)} fault codes.`);
        return { items: faults, total: faults.length };
      },
    ),
    'fault codes',
    remarks,
  );
  return items.map(({ id, code, text, unit, active, firstSeenAt, lastSeenAt }) => ({
    id: `Fault ${id}`,
    kind: 'Fault',
    from: Date.parse(firstSeenAt),
    to: active ? carNow() : Date.parse(lastSeenAt),
    open: active,
    text: `${code}${text === undefined ? '' : `: ${text}`} (control unit ${unit})`,
  }));
}

async function readCaptures(remarks: string[]): Promise<JourneyEvent[]> {
  if (store.car?.captures !== true) return [];
  const path = `${pathOfCar()}/captures`;
  const { items } = await allowed(
    askJson<{ readonly captures: readonly CaptureJson[] }>(path).then(({ captures }) => {
      return { items: captures, total: captures.length };
    }),
    'captures',
    remarks,
  );
  return items.map(({ id, cause, monitorId, of, from, to, frames, complete }) => ({
    id: `Capture ${id}`,
    kind: 'Capture',
    from: Date.parse(from),
    to: Date.parse(to),
    open: false,
    text: `Captured ${numberOf(frames, 1)} frames ${causesOfCaptures[cause] ?? cause}${
      cause === 'monitor' ? ` ${monitorId ?? of}` : ''
    }${complete ? '' : ', parts of it are missing'}`,
    log: `${path}/${encodeURIComponent(id)}`,
  }));
}

const causesOfCaptures: Readonly<Record<string, string>> = {
  collision: 'around a collision',
  monitor: 'around an event of the monitor',
  command: 'by command',
};

function eventsOf(kind: IncidentKind, records: readonly EventJson[]): JourneyEvent[] {
  return records.map((record) => eventOf(kind, record));
}

function eventOf(kind: IncidentKind, record: EventJson): JourneyEvent {
  const { id, createdAt, startedAt, endAt, severity, trigger, details } = record;
  const from = Date.parse(startedAt ?? trigger?.startAt ?? createdAt);
  const ends = kind === 'Alert' || kind === 'Theft';
  return {
    id: `${kind} ${id}`,
    kind,
    from,
    // An incident that has not ended lasts until now.
    ...(ends ? { to: endAt === undefined ? carNow() : Date.parse(endAt) } : {}),
    open: ends && endAt === undefined,
    text: textOfEvent(kind, record),
    severity: severity ?? details?.[0]?.severity,
    incident: kind !== 'Alarm' || (trigger !== undefined && trigger.type !== 'NoBreakIn'),
    ...(details === undefined ? {} : { sides: details.flatMap(({ side }) => side ?? []) }),
  };
}

function textOfEvent(kind: IncidentKind, record: EventJson): string {
  const { status, trigger } = record;
  if (kind === 'Alarm') {
    if (trigger?.type === 'NoBreakIn') return 'Alarm ended';
    if (trigger === undefined && status !== undefined) {
      return `Alarm ${valueInWords('alarm.status.activation', status.activation)}`;
    }
  }
  return wordsOfIncident(wordsNow(), kind, record);
}

function pointOf({ geometry, properties }: Feature): Point {
  const [longitude = 0, latitude = 0, altitude] = geometry.coordinates;
  const { createdAt, heading, speed, gap = false } = properties;
  return { at: Date.parse(createdAt), longitude, latitude, altitude, heading, speed, gap };
}

function readingOf({ createdAt, vehicle }: SampleJson): Reading[] {
  const speed = vehicle?.kinetic?.speed;
  const levels = Object.fromEntries(
    (vehicle?.energies ?? []).flatMap(({ type, level }) => (level === undefined ? [] : [[type, level]])),
  );
  if (speed === undefined && Object.keys(levels).length === 0) return [];
  return [{ at: Date.parse(createdAt), speed, levels }];
}
