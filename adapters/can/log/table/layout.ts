/** How a table of frames is laid out: one frame a line, its parts in columns. */

/** What separates columns: blanks and tabs in any number, or one character by its code. */
export type Separator = 'blank' | number;

/** How a column of times is read. */
export interface TimeColumn {
  readonly column: number;
  /**
   * Milliseconds of one unit of a plain number. `auto`: by its size, as {@link unitOf} says. Clock times and dates are
   * recognised whatever the unit.
   */
  readonly unit: number | 'auto';
}

/** Where the payload is. */
export interface DataColumns {
  readonly column: number;
  /**
   * `bytes`: a column each, from this one on. `packed`: all in this column, with or without something between them.
   * `rest`: as packed, in this column and all that follow.
   */
  readonly form: 'bytes' | 'packed' | 'rest' | 'base64';
  readonly base: 10 | 16;
}

/** Columns are counted from 0. */
export interface Layout {
  readonly separator: Separator;
  readonly time?: TimeColumn;
  readonly id: { readonly column: number; readonly base: 10 | 16 };
  readonly data: DataColumns;
  readonly bus?: number;
  readonly length?: number;
  /** `Rx` or `Tx`, `R` or `T`, `Receive` or `Send`. */
  readonly direction?: number;
  /** True, 1, x or the like in the column means yes. */
  readonly sent?: number;
  readonly extended?: number;
  readonly remote?: number;
  readonly error?: number;
  /** Columns of words such as `Ext`, `Std`, `Data`, `Remote`, `Error`. */
  readonly kinds: readonly number[];
  /** 0 is a frame with 11 bits of identifier, 1 one with 29, 8 and 9 the same when sent (CSS Electronics CLX000). */
  readonly code?: number;
}

/** Milliseconds of a unit of time by its name; undefined for a name that is none. */
export function unitNamed(name: string): number | undefined {
  switch (name.toLowerCase()) {
    case 's':
    case 'sec':
    case 'secs':
    case 'second':
    case 'seconds':
      return 1000;
    case 'ms':
    case 'msec':
    case 'milliseconds':
      return 1;
    case 'us':
    case 'µs':
    case 'usec':
    case 'microseconds':
      return 1e-3;
    case 'ns':
    case 'nsec':
    case 'nanoseconds':
      return 1e-6;
    default:
      return undefined;
  }
}

/**
 * Milliseconds of the unit of a time that names none. A fraction is of seconds. A whole number of the size of today's
 * date is in the unit that makes it one (the years from 2001 on); any other is in milliseconds.
 */
export function unitOf(time: string): number {
  if (/[.,]/.test(time)) return 1000;
  const digits = time.replace(/^-/, '').length;
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
