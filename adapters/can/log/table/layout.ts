/** Layout of a table of frames: one frame per line, its parts in columns. */

/**
 * Separator of columns: the code of one character; any number of blanks and tabs; or, if columns are aligned under
 * their names and cells may be empty, the position in the line.
 */
export type Separator = number | 'blank' | 'aligned';

/** Format of a time column. */
export interface TimeColumn {
  readonly column: number;
  /**
   * Milliseconds per unit of a plain number. `auto`: derived from its size by {@link unitOf}. Clock times and dates are
   * recognised with any unit.
   */
  readonly unit: number | 'auto';
  /** For `auto`: milliseconds per unit if all numbers are whole. */
  readonly whole?: number;
  /** Column with the date of a clock time. */
  readonly date?: number;
  /** Column with the milliseconds of a clock time. */
  readonly millisecond?: number;
  /** True if each time counts from the previous line. */
  readonly delta?: boolean;
}

/** Columns of the payload. */
export interface DataColumns {
  readonly column: number;
  /**
   * `bytes`: one column per byte, from this column. `packed`: all bytes in this column, with or without separators, and
   * in the next columns if a line has more cells than the table has columns.
   */
  readonly form: 'bytes' | 'packed' | 'base64';
  readonly base: 10 | 16;
  /** Number of columns of the form `bytes`. */
  readonly count?: number;
}

/** Layout of a table. Columns are counted from 0. */
export interface Layout {
  readonly separator: Separator;
  /** Names of all columns, for messages. Their number is the column count; without names there may be any number. */
  readonly names?: readonly string[];
  /** For the separator `aligned`: start and end of each name in its line. */
  readonly extents?: readonly (readonly [from: number, to: number])[];
  readonly time?: TimeColumn;
  readonly id: { readonly column: number; readonly base: 10 | 16 };
  readonly data: DataColumns;
  readonly bus?: number;
  /** Column of the number of payload bytes, or of a data length code if it has no other column. */
  readonly length?: number;
  /** Column of the data length code, in addition to {@link length}. */
  readonly lengthCode?: number;
  /** Column of the direction: `Rx` or `Tx`, `R` or `T`, `Receive` or `Send`, 0 or 1. */
  readonly direction?: number;
  /** Column that marks sent frames with true, 1, x or similar. */
  readonly sent?: number;
  readonly extended?: number;
  readonly remote?: number;
  readonly error?: number;
  readonly fd?: number;
  readonly bitRateSwitch?: number;
  readonly errorState?: number;
  /** Columns of words such as `Ext`, `Std`, `Data`, `Remote`, `Error`. */
  readonly kinds: readonly number[];
  /** Column of a code: 0 for an identifier of 11 bits, 1 of 29, 8 and 9 the same if sent (CSS Electronics CLX000). */
  readonly code?: number;
}

/** Returns the milliseconds of a unit named `ms`, `0.1ms`, `100 us` or similar, or undefined for an unknown name. */
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
 * Returns the milliseconds per unit of times without a named unit. Fractions are seconds, or milliseconds if they have
 * at least 12 digits before the point. Whole numbers are in the unit in which they are a present-day date (from 2001)
 * if there is one, and otherwise in milliseconds.
 * @param digits number of digits of the longest integer part
 */
export function unitOf(isFraction: boolean, digits: number): number {
  if (isFraction) return digits >= 12 ? 1 : 1000;
  if (digits >= 18) return 1e-6;
  if (digits >= 15) return 1e-3;
  if (digits >= 12) return 1;
  return digits >= 10 ? 1000 : 1;
}

/**
 * Returns the layout of GVRET and SavvyCAN without a line of names: time in microseconds, identifier, extended,
 * direction (not in files of older versions), bus, length, bytes.
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
