/** Readings of messages as a table: one row for each time, one column for each path or custom signal. */
import { shownValue } from '../../protocol/interface/json/shown-value.ts';
import type { MessageLine } from '../../protocol/interface/own/message-pages.ts';
import type { ReadableTelemetry } from '../../protocol/readable.ts';
import type { SignalText } from '../../protocol/schema/text.ts';
import type { WaypointMessage } from '../../protocol/schema/waypoint.ts';
import { vssName } from '../../protocol/signals/vss.ts';
import { slotByPath } from '../../protocol/slots.ts';
import type { Spool } from './spool.ts';
import type { Cell, ExportColumn, ExportTable } from './table.ts';

/** Names of columns: paths of Status, or VSS names where there is one. */
export type ColumnNames = 'paths' | 'vss';

export interface ExportPeriod {
  /** UTC ms; the end is excluded. */
  readonly from: number;
  readonly to: number;
}

interface Column extends ExportColumn {
  readonly index: number;
  type: ExportColumn['type'];
  readonly factor: number;
}

/** Readings of one column in a message. */
type Series = readonly [column: number, at: readonly number[], values: readonly Exclude<Cell, undefined>[]];

/** One reading on its way into a row. */
type PendingReading = readonly [at: number, column: number, value: Exclude<Cell, undefined>];

const WAYPOINT_UNITS = { latitude: 'deg', longitude: 'deg', altitude: 'm', heading: 'deg', speed: 'km/h' } as const;
const WAYPOINT_MEMBERS = ['latitude', 'longitude', 'altitude', 'heading', 'speed'] as const;
const WAYPOINT_WORDS = ['type', 'fixStatus', 'signalQuality', 'gap'] as const;

export class ReadingsTable implements ExportTable {
  readonly isTrack = true;
  readonly #spool: Spool;
  readonly #period: ExportPeriod;
  readonly #names: ColumnNames;
  readonly #columns = new Map<string, Column>();
  /** First time, and index in the spool, of each message. */
  readonly #messages: { readonly from: number; readonly index: number }[] = [];
  #readings = 0;

  constructor(spool: Spool, period: ExportPeriod, names: ColumnNames) {
    this.#spool = spool;
    this.#period = period;
    this.#names = names;
  }

  get readings(): number {
    return this.#readings;
  }

  /** Adds the readings of a message within the period. Returns their number. */
  add({ kind, body }: MessageLine): number {
    const series: Series[] = [];
    if (kind === 'telemetry') this.#telemetry(body as ReadableTelemetry, series);
    if (kind === 'waypoint') this.#waypoints(body as WaypointMessage, series);
    if (kind === 'text') {
      const { name, at, text } = body as SignalText;
      this.#series({ name, type: 'text' }, [at], [text], series);
    }
    if (series.length === 0) return 0;
    const from = series.reduce((least, [, at]) => at.reduce((a, b) => Math.min(a, b), least), Number.POSITIVE_INFINITY);
    this.#messages.push({ from, index: this.#spool.add(series) });
    const added = series.reduce((sum, [, at]) => sum + at.length, 0);
    this.#readings += added;
    return added;
  }

  get #sorted(): readonly Column[] {
    return [...this.#columns.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.index - b.index));
  }

  get columns(): readonly ExportColumn[] {
    return [{ name: 'time', type: 'time' }, ...this.#sorted];
  }

  get place() {
    const find = (member: string): number => {
      const column = [...this.#columns].find(([key]) => key.startsWith(`waypoint.${member}|`))?.[1];
      return column === undefined ? -1 : this.#sorted.indexOf(column) + 1;
    };
    return {
      latitude: find('latitude'),
      longitude: find('longitude'),
      altitude: find('altitude'),
      gap: find('gap'),
    };
  }

  async *rows(): AsyncGenerator<readonly Cell[]> {
    const sorted = this.#sorted;
    const places: number[] = [];
    for (const [place, { index }] of sorted.entries()) places[index] = place + 1;
    for await (const group of this.#groups()) yield* rowsOf(group, places, sorted);
  }

  /** Yields readings of equal time together, in ascending order, and those of one time in the order of recording. */
  async *#groups(): AsyncGenerator<readonly PendingReading[]> {
    const messages = this.#messages.toSorted((a, b) => a.from - b.from);
    let pending: PendingReading[] = [];
    for (const [place, { index }] of messages.entries()) {
      for (const [column, times, values] of this.#spool.read(index) as readonly Series[]) {
        for (const [i, at] of times.entries()) pending.push([at, column, values[i] as Exclude<Cell, undefined>]);
      }
      // Readings of later messages are not earlier than this.
      const until = messages[place + 1]?.from ?? Number.POSITIVE_INFINITY;
      pending.sort(([a], [b]) => a - b);
      let start = 0;
      while (start < pending.length) {
        const at = (pending[start] as PendingReading)[0];
        if (at >= until) break;
        let end = start + 1;
        while (end < pending.length && (pending[end] as PendingReading)[0] === at) end++;
        yield pending.slice(start, end);
        start = end;
      }
      pending = pending.slice(start);
    }
  }

  #telemetry({ series: all, signals = [] }: ReadableTelemetry, into: Series[]): void {
    for (const { path, unit, at, values } of all) {
      const slot = slotByPath.get(path);
      const type = slot?.kind === 'quantity' ? 'number' : slot?.kind === 'flag' ? 'boolean' : 'text';
      const shown = slot === undefined ? values : values.map((value) => shownValue(slot, value));
      this.#series({ name: path, unit, type }, at, shown, into);
    }
    for (const { name, unit, at, values } of signals)
      this.#series({ name, unit, type: typeIn(values) }, at, values, into);
  }

  #waypoints({ points }: WaypointMessage, into: Series[]): void {
    for (const member of [...WAYPOINT_MEMBERS, ...WAYPOINT_WORDS]) {
      const known = points.filter((point) => point[member] !== undefined);
      if (known.length === 0) continue;
      const values = known.map((point) => point[member]);
      const unit = member in WAYPOINT_UNITS ? WAYPOINT_UNITS[member as keyof typeof WAYPOINT_UNITS] : undefined;
      const times = known.map(({ at }) => at);
      this.#series({ name: `waypoint.${member}`, unit, type: typeIn(values) }, times, values, into);
    }
  }

  #series(
    wanted: { readonly name: string; readonly unit?: string | undefined; readonly type: ExportColumn['type'] },
    times: readonly number[],
    values: readonly unknown[],
    into: Series[],
  ): void {
    const { from, to } = this.#period;
    const chosen = times.flatMap((at, index) => (at >= from && at < to ? [index] : []));
    if (chosen.length === 0) return;
    const column = this.#column(wanted);
    // A column with several types of values becomes text; `rowsOf` converts its earlier values.
    if (column.type !== wanted.type) column.type = 'text';
    into.push([
      column.index,
      chosen.map((index) => times[index] as number),
      chosen.map((i) => cellOf(values[i], column)),
    ]);
  }

  #column({
    name,
    unit,
    type,
  }: {
    readonly name: string;
    readonly unit?: string | undefined;
    type: Column['type'];
  }): Column {
    const key = `${name}|${unit ?? ''}`;
    const known = this.#columns.get(key);
    if (known !== undefined) return known;
    const vss = this.#names === 'vss' ? vssName(name) : undefined;
    const shownUnit = vss === undefined || vss.factor === 1 ? unit : VSS_UNITS[`${unit} ${vss.factor}`];
    const made: Column = {
      index: this.#columns.size,
      name: vss?.name ?? name,
      ...(shownUnit === undefined ? {} : { unit: shownUnit }),
      type,
      factor: vss?.factor ?? 1,
    };
    this.#columns.set(key, made);
    return made;
  }
}

/** Units of VSS by the unit of Status and the factor between them. */
const VSS_UNITS: Readonly<Record<string, string>> = { 'km 1000': 'm' };

function typeIn(values: readonly unknown[]): ExportColumn['type'] {
  const [type = 'text', ...others] = new Set(values.map((value) => typeof value));
  return others.length === 0 && (type === 'number' || type === 'boolean') ? type : 'text';
}

function cellOf(value: unknown, { factor }: Column): Exclude<Cell, undefined> {
  // The product has no more digits than a double can represent.
  if (typeof value === 'number') return factor === 1 ? value : Number((value * factor).toPrecision(15));
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  return Array.isArray(value) ? value.join(',') : JSON.stringify(value);
}

/** Yields rows of one time. A second value of a column begins another row. */
function* rowsOf(
  group: readonly PendingReading[],
  places: readonly number[],
  columns: readonly Column[],
): Generator<Cell[]> {
  let row: Cell[] | undefined;
  for (const [at, index, value] of group) {
    const place = places[index] as number;
    if (row !== undefined && row[place] !== undefined) {
      yield row;
      row = undefined;
    }
    row ??= [at, ...new Array<undefined>(columns.length).fill(undefined)];
    row[place] = columns[place - 1]?.type === 'text' ? String(value) : value;
  }
  if (row !== undefined) yield row;
}
