/** Finds the meaning of the columns of a table of values from its first lines. */
import { layoutOfHeader } from '../table/header.ts';
import { unitNamed } from '../table/layout.ts';
import { cellsOf, cellValue, hasDecimalComma, mayBeThousands } from './cells.ts';
import { startOf, type TimeForm, timeFormOf } from './times.ts';
import { type Column, columnOf, unitOf } from './units.ts';

export interface ValueLayout {
  readonly separator: string;
  readonly decimalComma: boolean;
  /** Columns of the time. If there are two, date and time of day, joined with a blank. */
  readonly time: readonly number[];
  readonly form: TimeForm;
  /** Start in ms of elapsed times and times of day; undefined if the table does not contain it. */
  readonly start: number | undefined;
  /** Columns in table order; undefined for a column without values. Empty for a table with one value per line. */
  readonly columns: readonly (Column | undefined)[];
  /** For a table with one value per line: the columns of name, number and unit. */
  readonly single?: { readonly name: number; readonly value: number; readonly unit: number | undefined };
  /** The line of column names, which some loggers repeat within the table. */
  readonly header: string;
  /** Assumptions about ambiguous contents, as sentences for users. */
  readonly assumptions: readonly string[];
}

const SEPARATORS = ['\t', ';', ','];
/** Maximum number of lines before the column names: comments, names and values about the recording. */
const MOST_BEFORE = 50;
/** Number of lines used to find the meaning of the columns. */
const LOOKED_AT = 200;

/** Names of time columns in order of preference. A receiver may have no time when a phone has. */
const timeNames: readonly RegExp[] = [
  /^device[ _]*time$/,
  /^(date[ _/]*time|time[ _]*stamp|date[ _]*and[ _]*time|epoch([ _]*time)?|zeitstempel|datum[ _/]*zeit|horodatage)$/,
  /^(local|system|log|logging|recording|utc|absolute|abs)[ _]*time$/,
  /^(time|zeit|uhrzeit|temps|heure|hora|tiempo|tempo|t)$/,
  /^gps[ _]*time$/,
  /^(time[ _]*since[ _]*start|(seconds?|time)[ _]*elapsed|elapsed([ _]*(time|seconds))?|run[ _]*time|sec|secs|seconds|ms|milliseconds)$/,
  /^time[ _]*since[ _]*start[ _]*in[ _]*m?s$/,
];
/** Seconds since the engine started (SAE J1979 PID 1F; a common logger spells it `TINE`), if there is no other time. */
const engineTime = /^(engine[ _]*run[ _]*ti[mn]e|(run[ _]*)?time[ _]*since[ _]*engine[ _]*start)$/;
const dateNames = /^(date|datum|fecha|data)$/;
const nameNames = /^(pid|name|signal|parameter|sensor|channel|param|item)$/;
const valueNames = /^(value|val|wert|reading|valeur|valor)$/;
const unitNames = /^(units?|uom|einheit|unit[ée]s?)$/;

/** Returns the layout of a table of values, or undefined for other lines, such as a table of frames. */
export function valueLayoutOf(lines: readonly string[]): ValueLayout | undefined {
  let start: number | undefined;
  for (const [index, line] of lines.slice(0, MOST_BEFORE).entries()) {
    if (line.trim() === '') continue;
    start ??= startOf(line);
    if (/^\s*(#|\/\/)/.test(line) && !line.includes(',')) continue;
    for (const separator of SEPARATORS) {
      const layout = layoutAt(lines, index, separator, start);
      if (layout !== undefined) return layoutOfHeader(line) === undefined ? layout : undefined;
    }
  }
  return undefined;
}

interface Header {
  /** Name in lower case, without its unit. */
  readonly name: string;
  readonly unit: string | undefined;
}

function layoutAt(
  lines: readonly string[],
  index: number,
  separator: string,
  start: number | undefined,
): ValueLayout | undefined {
  const header = lines[index] as string;
  const names = cellsOf(header.replace(/^\s*#\s*/, ''), separator);
  if (names.length < 2 || names.some((name) => typeof cellValue(name, true) === 'number')) return undefined;
  const headers = names.map(headerOf);
  const following = lines.slice(index + 1).filter((line) => line.trim() !== '');
  const unitRow = unitsIn(following[0], separator, names.length);
  const rows = following
    .slice(unitRow === undefined ? 0 : 1, LOOKED_AT)
    .filter((line) => line !== header)
    .map((line) => cellsOf(line, separator));
  const full = rows.filter((row) => Math.abs(row.length - names.length) <= 1);
  if (full.length === 0 || full.length < 0.8 * rows.length) return undefined;
  const cells = full.flat();
  const commas = cells.filter(hasDecimalComma);
  const decimalComma = commas.length > 0 && !cells.some((cell) => /^[+-]?\d+\.\d+$/.test(cell));
  const time = timeOf(headers, unitRow, full, decimalComma);
  if (time === undefined) return undefined;
  const assumptions = [...(time.assumption === undefined ? [] : [time.assumption])];
  if (decimalComma && commas.every(mayBeThousands)) {
    assumptions.push(`a comma was read as the decimal mark: ${commas[0]} as ${commas[0]?.replace(',', '.')}`);
  }
  const begun = { separator, decimalComma, time: time.columns, form: time.form, start, header };
  const find = (pattern: RegExp): number => headers.findIndex(({ name }) => pattern.test(name));
  const [name, value, unit] = [find(nameNames), find(valueNames), find(unitNames)];
  if (name >= 0 && value >= 0 && names.length <= 8) {
    return { ...begun, columns: [], single: { name, value, unit: unit < 0 ? undefined : unit }, assumptions };
  }
  const isTime = (column: number): boolean =>
    time.columns.includes(column) || timeNames.some((pattern) => pattern.test(headers[column]?.name ?? ''));
  const taken = new Map<string, number>();
  const columns = names.map((text, column): Column | undefined => {
    const values = full.map((row) => cellValue(row[column] ?? '', decimalComma));
    if (isTime(column) || text === '' || !values.some((one) => typeof one === 'number')) return undefined;
    return distinct(columnOf(text, unitRow?.[column]), taken);
  });
  return columns.some((column) => column !== undefined) ? { ...begun, columns, assumptions } : undefined;
}

/** Adds a number to distinguish columns of the same name. */
function distinct(column: Column, taken: Map<string, number>): Column {
  const key = column.signal.toLowerCase();
  const count = (taken.get(key) ?? 0) + 1;
  taken.set(key, count);
  return count === 1 ? column : { ...column, signal: `${column.signal}_${count}` };
}

function headerOf(text: string): Header {
  // Loggers write empty brackets after a name without a unit.
  const plain = text.toLowerCase().replace(/\s*(\(\s*\)|\[\s*\])$/, '');
  const unit = /^(.*?)\s*[([]\s*([^()[\]]+?)\s*[)\]]$/.exec(plain) ?? /^(time(?:stamp)?)[ _]in[ _](m?s)$/.exec(plain);
  const named = unit?.[2] !== undefined && (unitNamed(unit[2]) !== undefined || /utc|local/.test(unit[2]));
  if (unit !== null && named) return { name: unit[1] as string, unit: unit[2] };
  const since = /^time[ _]*since[ _]*start[ _]*in[ _]*(m?s)$/.exec(plain);
  return { name: plain, unit: since?.[1] };
}

/** Returns the units in a second header line, as data loggers write it. */
function unitsIn(line: string | undefined, separator: string, count: number): readonly string[] | undefined {
  const cells = line === undefined ? [] : cellsOf(line, separator).map((cell) => cell.replaceAll(/^[([]|[)\]]$/g, ''));
  if (cells.length !== count) return undefined;
  const known = cells.filter((cell) => unitOf(cell) !== undefined || unitNamed(cell) !== undefined);
  const rest = cells.filter((cell) => cell !== '' && !known.includes(cell));
  return known.length > 0 && rest.length <= known.length && cells.every((cell) => !/\d{2}/.test(cell))
    ? cells
    : undefined;
}

interface Time {
  readonly columns: readonly number[];
  readonly form: TimeForm;
  readonly assumption?: string;
}

function timeOf(
  headers: readonly Header[],
  unitRow: readonly string[] | undefined,
  rows: readonly (readonly string[])[],
  decimalComma: boolean,
): Time | undefined {
  const date = headers.findIndex(({ name }) => dateNames.test(name));
  for (const pattern of timeNames) {
    const column = headers.findIndex(({ name }) => pattern.test(name));
    if (column < 0) continue;
    const unit = headers[column]?.unit ?? unitRow?.[column];
    const times = rows.map((row) => row[column] ?? '');
    const together = date >= 0 && date !== column ? rows.map((row) => `${row[date]} ${row[column]}`) : [];
    const both = timeFormOf(together, undefined, decimalComma);
    if (both?.form.kind === 'date') return { ...both, columns: [date, column] };
    const found = timeFormOf(times, unit, decimalComma);
    if (found !== undefined) return { ...found, columns: [column] };
  }
  const engine = headers.findIndex(({ name }) => engineTime.test(name));
  const elapsed =
    engine < 0
      ? undefined
      : timeFormOf(
          rows.map((row) => row[engine] ?? ''),
          's',
          decimalComma,
        );
  if (elapsed?.form.kind === 'elapsed') {
    return { ...elapsed, columns: [engine], assumption: 'the run time of the engine was read as the time' };
  }
  const found =
    date < 0
      ? undefined
      : timeFormOf(
          rows.map((row) => row[date] ?? ''),
          undefined,
          decimalComma,
        );
  return found === undefined ? undefined : { ...found, columns: [date] };
}
