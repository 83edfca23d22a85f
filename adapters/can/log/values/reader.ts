/** Opens a table of values: time and named columns, as phones and data loggers write them. */
import { defined } from '../../../../protocol/defined.ts';
import type { Diagnostic } from '../../../../protocol/diagnostic.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { contentsOf } from '../contents.ts';
import type { ByteInput } from '../input.ts';
import { Recording } from '../recording.ts';
import { TextInput, type TextLine } from '../text-input.ts';
import { cellsOf, cellValue } from './cells.ts';
import { type ValueLayout, valueLayoutOf } from './layout.ts';
import { ValueTimes } from './times.ts';
import { type Column, columnOf } from './units.ts';

/** Number of characters used to detect a table. */
const HEAD = 64 * 1024;
/** Maximum number of columns of a table with one value per line: with more, they are not names. */
const MOST_COLUMNS = 4_096;

/** One line of a table: values by column, or undefined. */
export interface ValueRow {
  /** UTC milliseconds. */
  readonly at: number;
  readonly values: readonly (number | undefined)[];
}

interface ValueLogOptions {
  /** Time zone (IANA name) of times without a zone. Default: UTC. */
  readonly zone?: string;
}

/** Returns true if the first lines, which are then consumed, are a table of values. Throws `input.unreadable`. */
export async function isValueTable(bytes: ByteInput): Promise<boolean> {
  return valueLayoutOf((await headLines((await TextInput.open(bytes)).lines())).map(({ text }) => text)) !== undefined;
}

/**
 * @param name name of the table for users
 * @throws VigieError `input.unreadable`; `input.malformed` for a file without a table of values
 */
export async function openValueTable(bytes: ByteInput, name: string, options: ValueLogOptions = {}): Promise<ValueLog> {
  const input = await TextInput.open(bytes);
  const lines = input.lines();
  const begun = await headLines(lines);
  const layout = valueLayoutOf(begun.map(({ text }) => text));
  if (layout !== undefined) return new ValueLog(name, input, begun, lines, layout, options);
  const what = 'this is not a table of values: a line of names, one of them the time, and numbers below it';
  throw new VigieError('input.malformed', what, { where: name });
}

/** Opens the first table of a file, packed or not. The caller must close it. Throws as {@link openValueTable} does. */
export async function openValueLog(path: string, options: ValueLogOptions = {}): Promise<ValueLog> {
  const contents = contentsOf(path);
  const first = await contents.next();
  if (first.done === true) throw new VigieError('input.malformed', 'the archive is empty', { where: path });
  try {
    const log = await openValueTable(first.value.bytes, first.value.name, options);
    log.close = async () => {
      await contents.return(undefined);
    };
    return log;
  } catch (error) {
    await contents.return(undefined);
    throw error;
  }
}

async function headLines(lines: AsyncGenerator<TextLine>): Promise<TextLine[]> {
  const head: TextLine[] = [];
  for (let size = 0; size < HEAD; ) {
    const next = await lines.next();
    if (next.done === true) break;
    head.push(next.value);
    size += next.value.text.length + 1;
  }
  return head;
}

export class ValueLog {
  readonly format = 'a table of values';
  /** Number of rows read. */
  frames = 0;
  /** Columns in the order of {@link ValueRow.values}; grows while a table with one value per line is read. */
  readonly columns: Column[] = [];
  readonly layout: ValueLayout;
  /** Closes the source of the bytes, if it was opened with the table. */
  close: () => Promise<void> = () => Promise.resolve();
  readonly #recording: Recording;
  readonly #input: TextInput;
  readonly #begun: readonly TextLine[];
  readonly #lines: AsyncGenerator<TextLine>;
  readonly #times: ValueTimes;
  readonly #zone: string | undefined;
  /** Index in {@link columns} by column of the table, or by name and unit. */
  readonly #places = new Map<number | string, number>();

  constructor(
    name: string,
    input: TextInput,
    begun: readonly TextLine[],
    lines: AsyncGenerator<TextLine>,
    layout: ValueLayout,
    { zone }: ValueLogOptions,
  ) {
    this.#recording = new Recording(name);
    this.#input = input;
    this.#begun = begun;
    this.#lines = lines;
    this.layout = layout;
    this.#zone = zone;
    const { decimalComma, form, start = 0 } = layout;
    this.#times = new ValueTimes(form, { decimalComma, start, ...defined({ zone }) });
    for (const [place, column] of layout.columns.entries()) {
      if (column !== undefined) this.#places.set(place, this.columns.push(column) - 1);
    }
  }

  get size(): number {
    return this.#input.size;
  }

  get position(): number {
    return this.#input.position;
  }

  get faults(): { readonly count: number; readonly first: readonly Diagnostic[] } {
    return this.#recording.faults;
  }

  get leftOut(): readonly { readonly reason: string; readonly count: number; readonly example: Diagnostic }[] {
    return [...this.#recording.leftOut.values()];
  }

  get passedOver(): ReadonlyMap<string, number> {
    return this.#recording.passedOver;
  }

  /** Assumptions about ambiguous contents, as sentences for users. */
  get assumptions(): readonly string[] {
    const { form, start, assumptions } = this.layout;
    const local = form.kind === 'date' ? !form.zoned : form.kind !== 'epoch' && start !== undefined;
    return [
      ...assumptions,
      ...(local && this.#zone === undefined ? ['local times were read as UTC (--time-zone Europe/Paris, if not)'] : []),
      ...(form.kind !== 'date' && form.kind !== 'epoch' && start === undefined
        ? ['the table has no date: times count from 1970-01-01']
        : []),
    ];
  }

  /** Yields the rows in order. Can be iterated once. Throws `input.unreadable`. */
  async *rows(): AsyncGenerator<ValueRow> {
    let number = 0;
    let begun = false;
    const recording = this.#recording;
    for await (const line of this.#all()) {
      number++;
      if (line.text.trim() === '') continue;
      if (line.text === this.layout.header) {
        if (begun) recording.passOver('repeated lines of column names');
        begun = true;
        continue;
      }
      if (!begun) continue;
      const row = line.tooLong ? 'the line is too long' : this.#row(line);
      if (typeof row === 'object') {
        this.frames++;
        yield row;
      } else if (!line.whole) recording.passOver('last lines that are cut');
      else if (/^\s*(#|\/\/)/.test(line.text)) recording.passOver('comments');
      else if (this.frames === 0 && !/\d{2}/.test(line.text)) recording.passOver('lines of units');
      else recording.fault(number, row);
    }
    if (this.#input.broken !== undefined) recording.brokenPacking(this.#input.broken);
  }

  async *#all(): AsyncGenerator<TextLine> {
    yield* this.#begun;
    yield* this.#lines;
  }

  /** Returns the row of a line, or the fault of the line. */
  #row({ text, whole }: TextLine): ValueRow | string {
    const { separator, time, single, columns } = this.layout;
    const cells = cellsOf(text, separator);
    const at = this.#times.at(time.map((column) => cells[column] ?? '').join(' '));
    if (Number.isNaN(at)) return 'the time cannot be read';
    if (!whole && cells.length < columns.length) return 'the line is cut';
    return single === undefined ? this.#wide(at, cells) : this.#single(at, cells, single);
  }

  #wide(at: number, cells: readonly string[]): ValueRow | string {
    const { columns, decimalComma } = this.layout;
    if (cells.length < time(this.layout) || cells.length > columns.length + 1) {
      return `the line has ${cells.length} columns, the names are ${columns.length}`;
    }
    const values: (number | undefined)[] = new Array(this.columns.length).fill(undefined);
    for (const [column, place] of this.#places) {
      const value = cellValue(cells[column as number] ?? '', decimalComma);
      if (value === undefined)
        return `${this.columns[place]?.signal} is not a number: ${(cells[column as number] ?? '').slice(0, 40)}`;
      if (value !== null) values[place] = scaled(value, this.columns[place] as Column);
    }
    return { at, values };
  }

  #single(at: number, cells: readonly string[], where: NonNullable<ValueLayout['single']>): ValueRow | string {
    const name = cells[where.name] ?? '';
    const unit = where.unit === undefined ? undefined : cells[where.unit];
    const value = cellValue(cells[where.value] ?? '', this.layout.decimalComma);
    if (name === '') return 'the line names no value';
    if (value === undefined) return `${name.slice(0, 40)} is not a number: ${(cells[where.value] ?? '').slice(0, 40)}`;
    const key = `${name}\0${unit ?? ''}`;
    let place = this.#places.get(key);
    if (place === undefined) {
      if (this.columns.length >= MOST_COLUMNS) return `more than ${MOST_COLUMNS} names of values`;
      place = this.columns.push(columnOf(name, unit)) - 1;
      this.#places.set(key, place);
    }
    const values: (number | undefined)[] = [];
    values[place] = value === null ? undefined : scaled(value, this.columns[place] as Column);
    return { at, values };
  }
}

/** Returns the number of cells that a line must have, up to its time. */
function time({ time: columns }: ValueLayout): number {
  return Math.max(...columns) + 1;
}

/** Scales and rounds to ten decimals: 12.3 mph × 1.609344 must not become 19.794931200000003. */
function scaled(value: number, { scale, offset }: Column): number | undefined {
  if (scale === 1 && offset === 0) return value;
  const physical = Number((value * scale + offset).toFixed(10));
  return Number.isFinite(physical) ? physical : undefined;
}
