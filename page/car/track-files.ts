/** Trips as files for other programs: GPX 1.1 and CSV (RFC 4180). */
import { type JourneyEvent, placeAt, type Track, type Trip } from './journey-records.ts';

/** Returns GPX in which each part without a gap is a segment. Events with a position are waypoints. */
export function gpxOf(name: string, { points }: Track, events: readonly JourneyEvent[]): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>'];
  lines.push('<gpx version="1.1" creator="Vigie" xmlns="http://www.topografix.com/GPX/1/1">');
  for (const { from, text } of events) {
    const place = placeWithin(points, from);
    if (place === undefined) continue;
    lines.push(`<wpt ${where(place)}><time>${time(from)}</time><name>${escaped(text)}</name></wpt>`);
  }
  lines.push(`<trk><name>${escaped(name)}</name><trkseg>`);
  points.forEach((point, index) => {
    if (point.gap && index > 0) lines.push('</trkseg><trkseg>');
    const height = point.altitude === undefined ? '' : `<ele>${point.altitude}</ele>`;
    lines.push(`<trkpt ${where(point)}>${height}<time>${time(point.at)}</time></trkpt>`);
  });
  lines.push('</trkseg></trk></gpx>');
  return `${lines.join('\n')}\n`;
}

const ENERGIES = ['Electric', 'Fuel'];

/** Returns CSV with all positions and readings of a trip, sorted by time. Fields without a new value are empty. */
export function trackCsv({ points, readings }: Track): string {
  const rows = [
    ...points.map(({ at, latitude, longitude, altitude, heading, speed }) => ({
      at,
      cells: [latitude, longitude, altitude, heading, speed, ...ENERGIES.map(() => undefined)],
    })),
    ...readings.map(({ at, speed, levels }) => ({
      at,
      cells: [undefined, undefined, undefined, undefined, speed, ...ENERGIES.map((energy) => levels[energy])],
    })),
  ].sort((a, b) => a.at - b.at);
  const head = ['time', 'latitude', 'longitude', 'altitude m', 'heading deg', 'speed km/h', 'Electric %', 'Fuel %'];
  return csvOf([head, ...rows.map(({ at, cells }) => [time(at), ...cells])]);
}

/** Returns CSV with one row for each trip of the period. */
export function tripsCsv(trips: readonly Trip[]): string {
  const rows = trips.map((trip) => [
    trip.id,
    trip.class,
    time(trip.from),
    trip.stoppedAt,
    trip.distance,
    trip.kinetic?.avgSpeed,
    trip.kinetic?.maxSpeed,
    ...ENERGIES.map((energy) => trip.energyConsumptions?.find(({ type }) => type === energy)?.consumption),
    (trip.faults ?? []).map(({ fault, cause }) => `${fault ?? ''} ${cause ?? ''}`.trim()).join('; '),
  ]);
  const head = [
    'trip',
    'class',
    'start',
    'stop',
    'distance km',
    'average km/h',
    'highest km/h',
    'Electric kWh',
    'Fuel L',
    'faults',
  ];
  return csvOf([head, ...rows]);
}

/** Downloads the text as a file with the name `name`. */
export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // By then the download has started.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function placeWithin(points: Track['points'], at: number): Track['points'][number] | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || at < first.at || at > last.at) return undefined;
  return placeAt(points, at);
}

function where({ latitude, longitude }: Track['points'][number]): string {
  return `lat="${latitude.toFixed(7)}" lon="${longitude.toFixed(7)}"`;
}

function csvOf(rows: readonly (readonly (string | number | undefined)[])[]): string {
  return `${rows.map((cells) => cells.map(cellOf).join(',')).join('\r\n')}\r\n`;
}

function cellOf(value: string | number | undefined): string {
  const text = value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function time(at: number): string {
  return new Date(at).toISOString();
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
