/** The layout of a table from the names of its columns. */
import { VigieError } from '../../../../protocol/errors.ts';
import { type DataColumns, type Layout, type Separator, type TimeColumn, unitNamed } from './layout.ts';

const COMMA = 44;
const SEMICOLON = 59;
const TAB = 9;

/** A name without quotes and case, its unit apart: `"Abs Time(Sec)"` is `abs time` in `sec`. */
interface Name {
  readonly name: string;
  readonly unit: string | undefined;
}

const names = {
  id: /^((arb(itration)?|can|frame|msg|message)[ ._-]*)?(id|identifier|addr|address)( no\.?| number)?$/,
  time: /^(abs(olute)?[ _]*)?(time|times|zeit)([ _]*stamps?)?$|^system[ _]*time$|^t$|^(date|epoch)[ _]*time$|^epoch$/,
  bus: /^(bus|ch|chn|channel|can[ _]*(bus|channel)|interface|iface|network|port|src)\.?$/,
  length: /^(len|length|dlc|dl|data[ _]*len(gth)?|data[ _]*length[ _]*code|size)\.?$/,
  data: /^(data|payload|data[ _]*bytes|data[ _]*field|bytes|raw[ _]*data)$/,
  firstByte: /^(d|b|byte|data|data[ _]*byte)[ _]*\[?0?([01])\]?$/,
  direction: /^(dir|direction|t\/r|r\/t|rx\/tx|tx\/rx|transmit\/receive)\.?$/,
  sent: /^(tx|sent)$/,
  extended: /^(ext|extended|ide|ex|xtd|is[ _]*extended([ _]*id)?)\.?$/,
  remote: /^(remote|rtr|rt|is[ _]*remote([ _]*frame)?)\.?$/,
  error: /^(er|err|error|is[ _]*error([ _]*frame)?)\.?$/,
  kind: /^(type|kind|format|flags?|flg|(frame|id|message|msg)[ _]*(type|format|kind))$/,
} as const;

/** The layout that a line of column names gives; undefined when it names no identifier or no data. */
export function layoutOfHeader(line: string): Layout | undefined {
  for (const separator of separatorsOf(line)) {
    const layout = layoutOf(columnsOf(line, separator).map(nameOf), separator);
    if (layout !== undefined) return layout;
  }
  return undefined;
}

/**
 * The layout with the columns that a user names, separated as in the lines of the table.
 * @param columns names as in {@link layoutOfHeader}, separated by commas; any other name is a column passed over
 * @throws VigieError `usage.wrong` without an identifier or data
 */
export function layoutOfColumns(columns: string, lines: readonly string[]): Layout {
  const wanted = columns.split(',').map((text) => nameOf(text.trim()));
  const filled = lines.filter((line) => line.trim() !== '');
  const separator = [TAB, SEMICOLON, COMMA].find((code) => {
    const character = String.fromCharCode(code);
    const enough = filled.filter((line) => line.split(character).length >= Math.min(wanted.length, 3));
    return enough.length > filled.length / 2;
  });
  const layout = layoutOf(wanted, separator ?? 'blank');
  if (layout !== undefined) {
    const { data } = layout;
    // The user names all columns, so the payload ends where the next named column begins.
    const inOne = data.form === 'rest' && data.column < wanted.length - 1;
    return inOne ? { ...layout, data: { ...data, form: 'packed' } } : layout;
  }
  throw new VigieError(
    'usage.wrong',
    `--columns ${columns}: name at least id and data (or d0 for bytes in columns of their own); others are time, bus, dlc, dir, ext, rtr`,
  );
}

function separatorsOf(line: string): readonly Separator[] {
  const marks = [TAB, SEMICOLON, COMMA].filter((code) => line.includes(String.fromCharCode(code)));
  // Names may contain blanks: blanks separate columns only in a line without another separator.
  return marks.length > 0 ? marks : ['blank'];
}

/** The texts of the columns of a line, without blanks around them. */
export function columnsOf(line: string, separator: Separator): string[] {
  if (separator === 'blank') return line.trim().split(/[ \t]+/);
  return line.split(String.fromCharCode(separator)).map((text) => text.trim());
}

function nameOf(text: string): Name {
  const plain = text.replaceAll(/^["'#; ]+|["' ]+$/g, '').toLowerCase();
  const unit = /[ _]*[([/]\s*([a-zµ]+)\s*[)\]]?$/.exec(plain);
  // `T/R` is a name, `Time/ms` has a unit.
  const isUnit = unit?.[1] !== undefined && (unitNamed(unit[1]) !== undefined || /^(hex|dec)$/.test(unit[1]));
  if (isUnit) return { name: plain.slice(0, unit.index).trim(), unit: unit[1] };
  const behind = /^(time(?:stamp)?)[ _](s|ms|us|ns)$/.exec(plain);
  return behind === null ? { name: plain, unit: undefined } : { name: behind[1] as string, unit: behind[2] };
}

function layoutOf(columns: readonly Name[], separator: Separator): Layout | undefined {
  const find = (pattern: RegExp): number | undefined => {
    const column = columns.findIndex(({ name }) => pattern.test(name));
    return column < 0 ? undefined : column;
  };
  const id = find(names.id);
  const data = dataOf(columns, separator);
  if (id === undefined || data === undefined || data.column === id) return undefined;
  const optional = {
    bus: find(names.bus),
    length: find(names.length),
    direction: find(names.direction),
    sent: find(names.sent),
    extended: find(names.extended),
    remote: find(names.remote),
    error: find(names.error),
    code: find(/^type$/),
  };
  const known = Object.fromEntries(Object.entries(optional).filter(([, column]) => column !== undefined));
  const time = timeOf(columns, find(names.time));
  const { name, unit } = columns[id] as Name;
  return {
    separator,
    ...(time === undefined ? {} : { time }),
    // Cabana names the column `addr` and writes decimal numbers.
    id: { column: id, base: unit === 'dec' || name === 'addr' ? 10 : 16 },
    data,
    ...known,
    kinds: columns.flatMap(({ name }, column) => (names.kind.test(name) ? [column] : [])),
  };
}

function timeOf(columns: readonly Name[], column: number | undefined): TimeColumn | undefined {
  if (column === undefined) return undefined;
  const { name, unit } = columns[column] as Name;
  const named = unit === undefined ? undefined : unitNamed(unit);
  if (named !== undefined) return { column, unit: named };
  // SavvyCAN and GVRET write microseconds without naming the unit.
  const isGvret = name === 'time stamp' && columns.some((one) => one.name === 'extended');
  return { column, unit: isGvret ? 1e-3 : 'auto' };
}

function dataOf(columns: readonly Name[], separator: Separator): DataColumns | undefined {
  const first = columns.findIndex(({ name }) => names.firstByte.test(name));
  const base = (column: number): 10 | 16 => (columns[column]?.unit === 'dec' ? 10 : 16);
  if (first >= 0) return { column: first, form: 'bytes', base: base(first) };
  const hexadecimal = columns.findIndex(({ name, unit }) => names.data.test(name) && unit === 'hex');
  const column = hexadecimal >= 0 ? hexadecimal : columns.findIndex(({ name }) => names.data.test(name));
  if (column < 0) return undefined;
  // python-can names the identifier `arbitration_id` and writes the payload in base64.
  if (columns.some(({ name }) => name === 'arbitration_id')) return { column, form: 'base64', base: 16 };
  const isLast = column === columns.length - 1;
  return { column, form: separator === 'blank' || isLast ? 'rest' : 'packed', base: base(column) };
}
