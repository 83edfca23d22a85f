/**
 * The layout of a table without column names, from its lines: an identifier, a length, and as many bytes as the length
 * says, which no other text has line after line. What stands before them is time, bus and direction.
 */
import { columnsOf } from './header.ts';
import type { Layout, Separator } from './layout.ts';

/** Lines that are looked at. */
const LOOKED_AT = 100;
/** Of these, the share that must fit. */
const FIT = 0.8;

const separators: readonly Separator[] = [9, 59, 44, 'blank'];
const IDENTIFIER = /^(0x)?[\da-f]{1,8}[hx]?$/i;
const OCTET = /^(0x)?[\da-f]{1,2}$/i;
const TIME = /^(-?\d+[.,]\d+|\d{1,2}:\d{2}.*|-?\d+)$/;
const DIRECTION = /^(rx|tx|r|t|recv|send|receive|transmit|received|transmitted|in|out)$/i;
const BUS = /^((can|ch|channel|bus)?[ _-]?\d{1,2}|v?s?l?can\d+)$/i;

/** Where the parts of a line may be that no word names. */
interface Place {
  readonly id: number;
  readonly length: number;
  readonly packed: boolean;
}

export interface Inferred {
  readonly layout: Layout;
  /** Lines that have it. */
  readonly fits: number;
}

/** The layout that most lines have; undefined when fewer than {@link FIT} of them have one in common. */
export function inferLayout(lines: readonly string[]): Inferred | undefined {
  const filled = lines.filter((line) => /^[^#;/]*[\da-f]/i.test(line)).slice(0, LOOKED_AT);
  let best: Inferred | undefined;
  for (const separator of separators) {
    const rows = filled.map((line) => columnsOf(line, separator));
    const place = commonest(rows);
    if (place === undefined) continue;
    const fitting = rows.filter((row) => fits(row, place));
    if (fitting.length < Math.max(1, filled.length * FIT) || fitting.length <= (best?.fits ?? 0)) continue;
    best = { layout: layoutOf(separator, place, fitting), fits: fitting.length };
  }
  return best;
}

function fits(row: readonly string[], { id, length, packed }: Place): boolean {
  const count = Number(row[length]);
  if (!IDENTIFIER.test(row[id] ?? '') || !/^(0x0*)?\d{1,2}$/.test(row[length] ?? '') || count > 64) return false;
  if (packed) return new RegExp(`^(0x)?([\\da-f]{2}){${count}}$`, 'i').test(row[length + 1] ?? '');
  const bytes = row.slice(length + 1, length + 1 + count);
  return bytes.length === count && bytes.every((text) => OCTET.test(text));
}

/** The place that most rows with a payload agree on. */
function commonest(rows: readonly (readonly string[])[]): Place | undefined {
  const votes = new Map<string, { place: Place; count: number }>();
  for (const row of rows) {
    for (const place of placesOf(row)) {
      const key = JSON.stringify(place);
      const vote = votes.get(key) ?? { place, count: 0 };
      vote.count++;
      votes.set(key, vote);
    }
  }
  // Of places with as many votes, the first is that with its length further to the left.
  return [...votes.values()].sort((a, b) => b.count - a.count)[0]?.place;
}

function* placesOf(row: readonly string[]): Generator<Place> {
  for (let length = 1; length < Math.min(row.length - 1, 16); length++) {
    // A payload of less than two bytes proves nothing.
    if (!(Number(row[length]) >= 2)) continue;
    for (const packed of [false, true]) {
      const id = identifierBefore(row, length);
      if (id !== undefined && fits(row, { id, length, packed })) yield { id, length, packed };
    }
  }
}

/** The identifier stands before the length, or before a word between the two. */
function identifierBefore(row: readonly string[], length: number): number | undefined {
  for (let column = length - 1; column >= 0; column--) {
    const text = row[column] as string;
    const isWord = DIRECTION.test(text) || !IDENTIFIER.test(text);
    if (!isWord) return column;
  }
  return undefined;
}

function layoutOf(separator: Separator, place: Place, rows: readonly (readonly string[])[]): Layout {
  const { id, length, packed } = place;
  const others = Array.from({ length }, (_, column) => column).filter((column) => column !== id);
  const every = (pattern: RegExp) => (column: number) => rows.every((row) => pattern.test(row[column] ?? ''));
  const time = others.find((column) => column < id && every(TIME)(column) && varies(rows, column));
  const rest = others.filter((column) => column !== time);
  const direction = rest.find(every(DIRECTION));
  const bus = rest.find((column) => column !== direction && column < id && every(BUS)(column));
  return {
    separator,
    id: { column: id, base: 16 },
    length,
    data: { column: length + 1, form: packed ? 'packed' : 'bytes', base: 16 },
    ...(time === undefined ? {} : { time: { column: time, unit: 'auto' } }),
    ...(direction === undefined ? {} : { direction }),
    ...(bus === undefined ? {} : { bus }),
    kinds: [],
  };
}

/** A column of times is not the same in all lines, unless there is only one. */
function varies(rows: readonly (readonly string[])[], column: number): boolean {
  return rows.length < 2 || rows.some((row) => row[column] !== rows[0]?.[column]);
}
