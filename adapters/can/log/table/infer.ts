/**
 * Infers the layout of a table without column names from its lines: an identifier, a length, and as many bytes as the
 * length, which no other text has in line after line. The columns before them are time, bus and direction.
 */
import { defined } from '../../../../protocol/defined.ts';
import { columnsOf, SEPARATORS } from './header.ts';
import type { Layout, Separator } from './layout.ts';

/** Number of lines that are examined. */
const LOOKED_AT = 100;
/** Smallest share of these lines that must fit. */
const FIT = 0.8;

const separators: readonly Separator[] = [...SEPARATORS, 'blank'];
const IDENTIFIER = /^(0x|\$)?[\da-f]{1,8}[hx]?$/i;
const OCTET = /^(0x)?[\da-f]{1,2}$/i;
const TIME = /^(-?\d+[.,]\d+|\d{1,2}:\d{2}.*|-?\d+)$/;
const DIRECTION = /^(rx|tx|r|t|recv|send|receive|transmit|received|transmitted|in|out)$/i;
const BUS = /^((can|ch|channel|bus)?[ _-]?\d{1,2}|v?s?l?can\d+|\$c\d)$/i;

/** Columns of the length and of the bytes after it. */
interface Place {
  readonly length: number;
  readonly packed: boolean;
}

/** Returns, for each separator, the layout that most lines have in common, if there is one. */
export function inferLayouts(lines: readonly string[]): readonly Layout[] {
  const filled = lines.filter((line) => /^[^#;/]*[\da-f]/i.test(line)).slice(0, LOOKED_AT);
  return separators.flatMap((separator) => {
    const rows = filled.map((line) => columnsOf(line, separator));
    const place = commonest(rows);
    if (place === undefined) return [];
    const fitting = rows.filter((row) => fits(row, place));
    if (fitting.length < Math.max(1, filled.length * FIT)) return [];
    const id = identifierBefore(fitting, place.length);
    return id === undefined ? [] : [layoutOf(separator, place, id, fitting)];
  });
}

function fits(row: readonly string[], { length, packed }: Place): boolean {
  const count = Number(row[length]);
  if (!/^(0x0*)?\d{1,2}$/.test(row[length] ?? '') || count > 64) return false;
  if (packed) return new RegExp(`^(0x)?([\\da-f]{2}){${count}}$`, 'i').test(row[length + 1] ?? '');
  const bytes = row.slice(length + 1, length + 1 + count);
  return bytes.length === count && bytes.every((text) => OCTET.test(text));
}

/** Returns the place with the most votes of the rows that have a payload. */
function commonest(rows: readonly (readonly string[])[]): Place | undefined {
  const votes = new Map<string, { place: Place; count: number }>();
  for (const row of rows) {
    for (let length = 1; length < Math.min(row.length - 1, 16); length++) {
      // A payload of less than two bytes proves nothing.
      if (!(Number(row[length]) >= 2)) continue;
      for (const packed of [false, true]) {
        const place = { length, packed };
        if (!fits(row, place)) continue;
        const key = JSON.stringify(place);
        const vote = votes.get(key) ?? { place, count: 0 };
        vote.count++;
        votes.set(key, vote);
      }
    }
  }
  // If places have equal votes, use the one with the leftmost length.
  return [...votes.values()].sort((a, b) => b.count - a.count)[0]?.place;
}

/**
 * Returns the column of the identifier: among the columns before the length in which all rows contain a number that may
 * be an identifier, the most likely one. Undefined if several are likely: one may be a bus, a counter or flags.
 */
function identifierBefore(rows: readonly (readonly string[])[], length: number): number | undefined {
  const every = (column: number, pattern: RegExp): boolean => rows.every((row) => pattern.test(row[column] ?? ''));
  const columns = Array.from({ length }, (_, column) => column).filter(
    (column) => every(column, IDENTIFIER) && !every(column, DIRECTION),
  );
  const time = columns.length > 1 && isRising(rows, columns[0] as number) ? columns[0] : undefined;
  const points = (column: number): number => {
    const some = (pattern: RegExp): boolean => rows.some((row) => pattern.test(row[column] ?? ''));
    if (every(column, /^(0x|\$(?!c\d$))/i)) return 3;
    if (every(column, /^.{3}/)) return 2;
    return some(/[a-f]/i) || some(/^.{2}/) ? 1 : 0;
  };
  const scored = columns
    .filter((column) => column !== time)
    .map((column) => ({ column, points: points(column) }))
    .sort((a, b) => b.points - a.points || b.column - a.column);
  const [first, second] = scored;
  if (first === undefined) return undefined;
  return second !== undefined && first.points < 2 && second.points === first.points ? undefined : first.column;
}

/** Returns true for plain numbers that never decrease and are not all equal. */
function isRising(rows: readonly (readonly string[])[], column: number): boolean {
  const numbers = rows.map((row) => (/^\d+$/.test(row[column] ?? '') ? Number(row[column]) : Number.NaN));
  const rises = numbers.every((number, i) => i === 0 || number >= (numbers[i - 1] as number));
  return rises && !Number.isNaN(numbers[0]) && (numbers.length < 2 || numbers.at(-1) !== numbers[0]);
}

function layoutOf(separator: Separator, place: Place, id: number, rows: readonly (readonly string[])[]): Layout {
  const { length, packed } = place;
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
    ...(time === undefined ? {} : { time: { column: time, unit: 'auto' as const } }),
    ...defined({ direction, bus }),
    kinds: [],
  };
}

/** Returns true if a column varies. Times are not the same in all lines, unless there is only one line. */
function varies(rows: readonly (readonly string[])[], column: number): boolean {
  return rows.length < 2 || rows.some((row) => row[column] !== rows[0]?.[column]);
}
