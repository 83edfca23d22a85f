/** Writers of tables: CSV (RFC 4180), NDJSON, GPX 1.1 and GeoJSON (RFC 7946). */
import { closeSync, openSync, writeSync } from 'node:fs';
import { defined } from '../../protocol/defined.ts';
import { type Cell, type ExportColumn, type ExportTable, headerOf, isoTime, msName } from './table.ts';

/** Size in characters of text that is written together. */
const GATHERED = 64 * 1024;

type TextLines = (table: ExportTable) => AsyncIterable<string>;

/** Writes a table to a new file. */
export async function writeText(table: ExportTable, path: string, linesOf: TextLines): Promise<void> {
  const file = openSync(path, 'w');
  try {
    let gathered = '';
    for await (const line of linesOf(table)) {
      gathered += line;
      if (gathered.length < GATHERED) continue;
      writeSync(file, gathered);
      gathered = '';
    }
    writeSync(file, gathered);
  } finally {
    closeSync(file);
  }
}

export async function* csvLines(table: ExportTable): AsyncGenerator<string> {
  const { columns } = table;
  const header = columns.flatMap((column) =>
    column.type === 'time' ? [column.name, msName(column.name)] : [headerOf(column)],
  );
  yield csvLine(header);
  for await (const row of table.rows()) {
    yield csvLine(columns.flatMap(({ type }, i) => (type === 'time' ? timesOf(row[i]) : [row[i]])));
  }
}

function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: Cell): string {
  const text = value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function timesOf(value: Cell): readonly [Cell, Cell] {
  return typeof value === 'number' ? [isoTime(value), value] : [undefined, undefined];
}

/** One object for each row, without members for empty cells. */
export async function* ndjsonLines(table: ExportTable): AsyncGenerator<string> {
  const { columns } = table;
  for await (const row of table.rows()) yield `${JSON.stringify(membersOf(columns, row))}\n`;
}

/** Returns the cells of a row by the names of their columns. The text of a record's body becomes an object again. */
function membersOf(columns: readonly ExportColumn[], row: readonly Cell[]): Readonly<Record<string, unknown>> {
  return defined(
    Object.fromEntries(
      columns.flatMap((column, i): [string, unknown][] => {
        const value = row[i];
        if (column.type === 'time') {
          const [iso, ms] = timesOf(value);
          return [
            [column.name, iso],
            [msName(column.name), ms],
          ];
        }
        return [[headerOf(column), column.name === 'body' ? JSON.parse(String(value)) : value]];
      }),
    ),
  );
}

/** A feature for each row. Rows without a place have no geometry. */
export async function* geojsonLines(table: ExportTable): AsyncGenerator<string> {
  const { columns, place } = table;
  yield '{"type":"FeatureCollection","features":[';
  let separator = '\n';
  for await (const row of table.rows()) {
    const [latitude, longitude, altitude] = placeOf(place, row);
    const coordinates = altitude === undefined ? [longitude, latitude] : [longitude, latitude, altitude];
    const geometry = latitude === undefined ? null : { type: 'Point', coordinates };
    yield `${separator}${JSON.stringify({ type: 'Feature', geometry, properties: membersOf(columns, row) })}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

type Place = readonly [latitude?: number, longitude?: number, altitude?: number];

function placeOf({ latitude, longitude, altitude = -1 }: ExportTable['place'], row: readonly Cell[]): Place {
  const [north, east, height] = [row[latitude], row[longitude], row[altitude]];
  if (typeof north !== 'number' || typeof east !== 'number') return [];
  return typeof height === 'number' ? [north, east, height] : [north, east];
}

/** Namespace of the extensions: cells that GPX has no element for. */
const NAMESPACE = 'urn:vigie:gpx:1';

/**
 * Places of a track as points of its segments, other places as waypoints. All cells of a row are extensions of its
 * point; rows without a place are extensions of the point before them, or of the track or file before the first point.
 */
export async function* gpxLines(table: ExportTable): AsyncGenerator<string> {
  const { isTrack } = table;
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield `<gpx version="1.1" creator="Vigie" xmlns="http://www.topografix.com/GPX/1/1" xmlns:vigie="${NAMESPACE}">\n`;
  yield* isTrack ? trackLines(table) : waypointLines(table);
  yield '</gpx>\n';
}

async function* trackLines(table: ExportTable): AsyncGenerator<string> {
  const { columns, place } = table;
  yield '<trk><extensions>\n';
  let isBegun = false;
  for await (const row of table.rows()) {
    const at = row[0] as number;
    const [latitude, longitude, altitude] = placeOf(place, row);
    if (latitude !== undefined && longitude !== undefined) {
      const isGap = row[place.gap ?? -1] === true;
      yield isBegun ? '</extensions></trkpt>\n' : '</extensions><trkseg>\n';
      if (isGap && isBegun) yield '</trkseg><trkseg>\n';
      isBegun = true;
      const height = altitude === undefined ? '' : `<ele>${altitude}</ele>`;
      yield `<trkpt ${placeAttributes(latitude, longitude)}>${height}<time>${isoTime(at)}</time><extensions>\n`;
    }
    yield extensionsOf(columns, row, at);
  }
  yield isBegun ? '</extensions></trkpt></trkseg></trk>\n' : '</extensions></trk>\n';
}

async function* waypointLines(table: ExportTable): AsyncGenerator<string> {
  const { columns, place } = table;
  for await (const row of table.rows()) {
    const at = row[0] as number;
    const [latitude, longitude] = placeOf(place, row);
    if (latitude === undefined || longitude === undefined) continue;
    yield `<wpt ${placeAttributes(latitude, longitude)}><time>${isoTime(at)}</time><extensions>\n`;
    yield `${extensionsOf(columns, row, at)}</extensions></wpt>\n`;
  }
  // The schema wants extensions of the file at its end.
  yield '<extensions>\n';
  for await (const row of table.rows()) {
    if (placeOf(place, row)[0] === undefined) yield extensionsOf(columns, row, row[0] as number);
  }
  yield '</extensions>\n';
}

/** Seven decimals are the resolution of positions, and XML has no exponents. */
function placeAttributes(latitude: number, longitude: number): string {
  return `lat="${latitude.toFixed(7)}" lon="${longitude.toFixed(7)}"`;
}

function extensionsOf(columns: readonly ExportColumn[], row: readonly Cell[], at: number): string {
  const values = columns.flatMap(({ name, unit, type }, i) => {
    const value = row[i];
    if (value === undefined || i === 0) return [];
    const text = type === 'time' ? isoTime(value as number) : String(value);
    const shown = unit === undefined ? '' : ` unit="${escaped(unit)}"`;
    return [`<vigie:value name="${escaped(name)}"${shown}>${escaped(text)}</vigie:value>`];
  });
  return `<vigie:row time="${isoTime(at)}">${values.join('')}</vigie:row>\n`;
}

/** Characters that XML 1.0 cannot contain. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML excludes
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

function escaped(text: string): string {
  return text
    .replaceAll(NOT_XML, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
