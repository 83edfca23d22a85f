/** Finds the possible layouts of a table from its line of column names. */
import { VigieError } from '../../../../protocol/errors.ts';
import type { Head } from '../format.ts';
import { type DataColumns, type Layout, type Separator, type TimeColumn, unitNamed } from './layout.ts';
import { byteNumber, type ColumnName, hasRole, isFirstByte, isKnown, nameOf, type Role } from './names.ts';

/** Codes of the characters that separate columns: tab, semicolon, comma, bar. */
export const SEPARATORS: readonly number[] = [9, 59, 44, 124];
/** Maximum number of characters in a name. A longer cell is a sentence. */
const MAX_NAME_SIZE = 40;
/** Maximum number of words in a name. A cell with more words is a sentence. */
const MAX_NAME_WORDS = 5;
/** Smallest share of known names in a line separated by blanks: a sentence has words too. */
const KNOWN_SHARE = 0.5;

/** Matches every line of names, because identifier and payload names contain these letters, but few other lines. */
const MAY_BE_NAMES = /^(?=.*(id|addr))(?=.*(data|payload|byte|msg|hex|content|[db][ _[]*0?[01]))/i;

/** Number of lines at the start of a file in which column names are searched. */
export const MAX_PREAMBLE_LINES = 100;

/** Returns the first layout of a line of column names, or undefined if it names no identifier or no data. */
export function layoutOfHeader(line: string): Layout | undefined {
  return layoutsOfHeader(line)[0];
}

/** Returns true if the first lines contain a line of column names, even if the table is rejected later. */
export function hasColumnNames({ lines }: Head): boolean {
  return lines.slice(0, MAX_PREAMBLE_LINES).some((line) => layoutsOfHeader(line).length > 0);
}

/** Returns the possible layouts of a line of column names in order of likelihood. */
export function layoutsOfHeader(line: string): readonly Layout[] {
  if (!MAY_BE_NAMES.test(line)) return [];
  const separators = SEPARATORS.filter((code) => line.includes(String.fromCharCode(code)));
  const separated = separators.flatMap((separator) => {
    const names = columnsOf(line, separator).map(nameOf);
    return names.every(isName) ? layoutsOf(trimmed(names), separator) : [];
  });
  if (separated.length > 0) return separated;
  // Names may contain blanks, so blanks separate columns only in a line without another separator.
  return [true, false].flatMap((wide) => blankLayouts(line, wide));
}

/**
 * Returns the layouts with the columns named by the user.
 * @param columns names as in {@link layoutsOfHeader}, separated by commas; a column with any other name is skipped
 * @throws VigieError `usage.wrong` without an identifier or data
 */
export function layoutsOfColumns(columns: string): readonly Layout[] {
  const names = columns.split(',').map((text) => nameOf(text.trim()));
  const layouts = [...SEPARATORS, 'blank' as const].flatMap((separator) => layoutsOf(names, separator));
  if (layouts.length > 0) return layouts;
  throw new VigieError(
    'usage.wrong',
    `--columns ${columns}: name at least id and data (or d0 for bytes in columns of their own); others are time, bus, dlc, dir, ext, rtr`,
  );
}

/** Returns the columns of a line without surrounding blanks. A cell may be enclosed in double quotes. */
export function columnsOf(line: string, separator: Separator): string[] {
  if (typeof separator !== 'number') return line.trim().split(/[ \t]+/);
  const mark = String.fromCharCode(separator);
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    if (character === mark && !quoted) {
      cells.push(cell);
      cell = '';
    } else cell += character;
  }
  cells.push(cell);
  return cells.map((text) => text.replaceAll(/^[\s\0]+|[\s\0]+$/g, ''));
}

function isName({ text }: ColumnName): boolean {
  return !/:\s/.test(text) && text.length <= MAX_NAME_SIZE && text.split(/\s+/).length <= MAX_NAME_WORDS;
}

/** Removes the empty names after trailing separators. */
function trimmed(names: readonly ColumnName[]): readonly ColumnName[] {
  const last = names.findLastIndex(({ text }) => text !== '');
  return names.slice(0, last + 1);
}

interface Word {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** @param wide true if one blank does not separate names */
function blankLayouts(line: string, wide: boolean): readonly Layout[] {
  const pattern = wide ? /\S+(?: \S+)*/g : /\S+/g;
  const cells = [...line.matchAll(pattern)].map(([text], i, all) => wordAt(text, all[i] as RegExpExecArray));
  // Some names may be separated by two blanks and others by one: `Time  ID  D0 D1 D2`.
  const words = wide ? cells.flatMap(splitKnown) : merged(cells);
  const names = words.map(({ text }) => nameOf(text));
  const known = names.filter(isKnown).length;
  if (!names.every(isName) || known < names.length * KNOWN_SHARE || known < 2) return [];
  const extents = words.map(({ from, to }) => [from, to] as const);
  const layouts = layoutsOf(names, 'blank');
  const aligned = line.includes('\t')
    ? []
    : layouts.map((layout) => ({ ...layout, separator: 'aligned' as const, extents }));
  return [...aligned, ...layouts];
}

function wordAt(text: string, { index }: { readonly index: number }): Word {
  return { text, from: index, to: index + text.length };
}

function splitKnown(cell: Word): readonly Word[] {
  const words = [...cell.text.matchAll(/\S+/g)].map((match) => ({
    text: match[0],
    from: cell.from + match.index,
    to: cell.from + match.index + match[0].length,
  }));
  if (isKnown(nameOf(cell.text))) return [cell];
  return words.every(({ text }) => isKnown(nameOf(text))) ? words : [cell];
}

/** Joins words that form one name: `Time Stamp`, `Arb ID`, `Data Length Code`. */
function merged(words: readonly Word[]): readonly Word[] {
  const names: Word[] = [];
  for (let i = 0; i < words.length; ) {
    const count = [4, 3, 2].find((size) => isOneName(words.slice(i, i + size), size)) ?? 1;
    const part = words.slice(i, i + count);
    const [first, last] = [part[0] as Word, part.at(-1) as Word];
    names.push({ text: part.map(({ text }) => text).join(' '), from: first.from, to: last.to });
    i += count;
  }
  return names;
}

function isOneName(words: readonly Word[], size: number): boolean {
  if (words.length < size) return false;
  const near = words.every(({ from }, i) => i === 0 || from === (words[i - 1] as Word).to + 1);
  const units = words.slice(1).every(({ text }) => /^[([]/.test(text));
  const apart = words.every(({ text }) => isKnown(nameOf(text)));
  // `ID DLC` is two names; `Data Length` and `Time (ms)` are one name each.
  const joined = nameOf(words.map(({ text }) => text).join(' '));
  return near && isKnown(joined) && (units || !apart || /^(datalength|timestamp|datetime)/.test(joined.key));
}

/** Returns the possible meanings of the names. If they do not say hexadecimal or decimal, the lines must decide. */
function layoutsOf(columns: readonly ColumnName[], separator: Separator): readonly Layout[] {
  const find: Find = (role, but = []) => {
    const column = columns.findIndex((name, i) => !but.includes(i) && hasRole(name, role));
    return column < 0 ? undefined : column;
  };
  const id = find('id');
  const data = id === undefined ? [] : dataOf(columns, id);
  if (id === undefined || data.length === 0) return [];
  const payload = data[0]?.column;
  const [length, lengthCode] = [find('length', [payload]), find('lengthCode')];
  const direction = find('direction');
  const known = {
    time: timeOf(columns, find),
    bus: find('bus', [id]),
    direction,
    sent: find('sent'),
    extended: find('extended'),
    remote: find('remote', [direction]),
    error: find('error'),
    fd: find('fd'),
    bitRateSwitch: find('bitRateSwitch'),
    errorState: find('errorState'),
    code: columns.length === 4 ? find('code') : undefined,
  };
  const kinds = columns.flatMap((name, column) => (hasRole(name, 'kind') && column !== direction ? [column] : []));
  const names = columns.map(({ text }) => text);
  const bases = basesOf(columns[id] as ColumnName);
  // If there are two columns of lengths, one of them may not count the bytes of data.
  const lengths =
    length === undefined || lengthCode === undefined
      ? [{ length: length ?? lengthCode }]
      : [{ length, lengthCode }, { length: lengthCode }];
  return data.flatMap((form) =>
    bases.flatMap((base) =>
      lengths.map((one) =>
        withoutUndefined({ separator, names, id: { column: id, base }, data: form, ...known, ...one, kinds }),
      ),
    ),
  );
}

type Find = (role: Role, but?: readonly (number | undefined)[]) => number | undefined;

type Possible<T> = { readonly [K in keyof T]: T[K] | undefined };

function withoutUndefined(layout: Possible<Layout>): Layout {
  return Object.fromEntries(Object.entries(layout).filter(([, value]) => value !== undefined)) as unknown as Layout;
}

function basesOf({ key, unit }: ColumnName): readonly (10 | 16)[] {
  if (unit?.startsWith('hex') === true || key.endsWith('hex')) return [16];
  // Cabana names the column `addr` and writes decimal numbers.
  if (unit?.startsWith('dec') === true || /dec(imal)?$/.test(key) || key === 'addr') return [10];
  return [16, 10];
}

function timeOf(columns: readonly ColumnName[], find: Find): TimeColumn | undefined {
  const date = find('date');
  const milliseconds = find('millisecond');
  const absolute = find('time');
  const column = absolute ?? find('delta') ?? milliseconds ?? date;
  if (column === undefined) return undefined;
  const { text, unit } = columns[column] as ColumnName;
  const named = unit === undefined ? undefined : unitNamed(unit);
  // SavvyCAN and GVRET write microseconds without naming the unit.
  const isGvret = text.toLowerCase() === 'time stamp' && columns.some((one) => one.text.toLowerCase() === 'extended');
  return {
    column,
    unit: named ?? (column === milliseconds ? 1 : 'auto'),
    ...(isGvret ? { whole: 1e-3 } : {}),
    ...(date === undefined || date === column ? {} : { date }),
    ...(milliseconds === undefined || milliseconds === column ? {} : { millisecond: milliseconds }),
    ...(absolute === undefined && column === find('delta') ? { delta: true } : {}),
  };
}

/** Returns the possible forms of the payload. */
function dataOf(columns: readonly ColumnName[], id: number): readonly DataColumns[] {
  const first = columns.findIndex((name, i) => i !== id && isFirstByte(name));
  if (first >= 0) {
    const begin = byteNumber(columns[first] as ColumnName);
    let count = 1;
    while (first + count < columns.length && byteNumber(columns[first + count] as ColumnName) === begin + count)
      count++;
    // A single column may mean all bytes: `id,d0`.
    const all = count === 1 && first === columns.length - 1 ? {} : { count };
    return basesOf(columns[first] as ColumnName).map((base) => ({ column: first, form: 'bytes', base, ...all }));
  }
  const candidates = columns.flatMap((name, i) => (i !== id && hasRole(name, 'data') ? [i] : []));
  const column = candidates.find((i) => columns[i]?.unit?.startsWith('hex') === true) ?? candidates[0];
  if (column === undefined) return [];
  const packed = basesOf(columns[column] as ColumnName).map((base) => ({ column, form: 'packed' as const, base }));
  // python-can names the identifier `arbitration_id` and writes the payload in base64.
  const isBase64 = columns.some(({ text }) => text.toLowerCase() === 'arbitration_id');
  return isBase64 ? [{ column, form: 'base64', base: 16 }, ...packed] : packed;
}
