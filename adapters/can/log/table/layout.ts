/** How a table of frames is laid out: one frame a line, its parts in columns. */

/**
 * Separator of columns: one character by its code; blanks and tabs in any number; or the position in the line, if
 * columns are aligned under their names and a cell may be empty.
 */
export type Separator = number | 'blank' | 'aligned';

/** How a column of times is read. */
export interface TimeColumn {
  readonly column: number;
  /**
   * Milliseconds of one unit of a plain number. `auto`: by its size, as {@link unitOf} says. Clock times and dates are
   * recognised whatever the unit.
   */
  readonly unit: number | 'auto';
  /** For `auto`: milliseconds of one unit if all numbers are whole. */
  readonly whole?: number;
  /** Column with the date of a clock time. */
  readonly date?: number;
  /** Column with the milliseconds of a clock time. */
  readonly millisecond?: number;
  /** Times count from the line before. */
  readonly delta?: boolean;
}

/** Where the payload is. */
export interface DataColumns {
  readonly column: number;
  /**
   * `bytes`: a column each, from this one on. `packed`: in this column, with or without something between the bytes; in
   * this and the following ones, where a line has more cells than the table has columns.
   */
  readonly form: 'bytes' | 'packed' | 'base64';
  readonly base: 10 | 16;
  /** Columns of the form `bytes`. */
  readonly count?: number;
}

/** Columns are counted from 0. */
export interface Layout {
  readonly separator: Separator;
  /** Names of all columns, for messages; their number. A table without names may have any number. */
  readonly names?: readonly string[];
  /** For the separator `aligned`: start and end of the names in their line. */
  readonly extents?: readonly (readonly [from: number, to: number])[];
  readonly time?: TimeColumn;
  readonly id: { readonly column: number; readonly base: 10 | 16 };
  readonly data: DataColumns;
  readonly bus?: number;
  /** Number of payload bytes; a data length code where there is no other column for it. */
  readonly length?: number;
  /** Data length code, in addition to {@link length}. */
  readonly lengthCode?: number;
  /** `Rx` or `Tx`, `R` or `T`, `Receive` or `Send`, 0 or 1. */
  readonly direction?: number;
  /** True, 1, x or the like in the column means yes. */
  readonly sent?: number;
  readonly extended?: number;
  readonly remote?: number;
  readonly error?: number;
  readonly fd?: number;
  readonly bitRateSwitch?: number;
  readonly errorState?: number;
  /** Columns of words such as `Ext`, `Std`, `Data`, `Remote`, `Error`. */
  readonly kinds: readonly number[];
  /** 0 is a frame with 11 bits of identifier, 1 one with 29, 8 and 9 the same when sent (CSS Electronics CLX000). */
  readonly code?: number;
}

/** Milliseconds of a unit of time by its name, such as `ms`, `0.1ms` or `100 us`. Undefined for an unknown name. */
export function unitNamed(name: string): number | undefined {
  const parts = /^(\d+(?:\.\d+)?)?\s*([a-zµ]+)$/.exec(name.toLowerCase());
  if (parts === null) return undefined;
  const unit = plainUnit(parts[2] as string);
  return unit === undefined || parts[1] === undefined ? unit : unit * Number(parts[1]);
}

function plainUnit(name: string): number | undefined {
  switch (name) {
    case 's':
    case 'sec':
    case 'secs':
    case 'second':
    case 'seconds':
      return 1000;
    case 'ms':
    case 'msec':
    case 'millis':
    case 'milliseconds':
      return 1;
    case 'us':
    case 'µs':
    case 'usec':
    case 'micros':
    case 'microseconds':
      return 1e-3;
    case 'ns':
    case 'nsec':
    case 'nanos':
    case 'nanoseconds':
      return 1e-6;
    default:
      return undefined;
  }
}

/**
 * Milliseconds of the unit of times that name none. A fraction is of seconds. Whole numbers of the size of today's date
 * are in the unit that makes them one (the years from 2001 on); any other is in milliseconds.
 * @param digits of the longest whole part
 */
export function unitOf(isFraction: boolean, digits: number): number {
  if (isFraction) return digits >= 12 ? 1 : 1000;
  if (digits >= 18) return 1e-6;
  if (digits >= 15) return 1e-3;
  if (digits >= 12) return 1;
  return digits >= 10 ? 1000 : 1;
}

/**
 * The table of GVRET and SavvyCAN without its line of names: time in microseconds, identifier, extended, direction (not in
 * files of older versions), bus, length, bytes.
 */
export function gvretLayout(withDirection: boolean): Layout {
  const shift = withDirection ? 1 : 0;
  return {
    separator: 44,
    time: { column: 0, unit: 1e-3 },
    id: { column: 1, base: 16 },
    extended: 2,
    ...(withDirection ? { direction: 3 } : {}),
    bus: 3 + shift,
    length: 4 + shift,
    data: { column: 5 + shift, form: 'bytes', base: 16 },
    kinds: [],
  };
}
