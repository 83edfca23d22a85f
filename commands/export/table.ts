/** A table for the writers of files: columns, and rows in the order of time. */

export type Cell = number | boolean | string | undefined;

export interface ExportColumn {
  readonly name: string;
  readonly unit?: string;
  /** A `time` is UTC ms; writers add it as text. */
  readonly type: 'number' | 'boolean' | 'text' | 'time';
}

/** Indexes of the columns that place a row on a map. */
export interface PlaceColumns {
  readonly latitude: number;
  readonly longitude: number;
  readonly altitude?: number;
  /** Column that is true if the route from the previous place is unknown. */
  readonly gap?: number;
}

export interface ExportTable {
  /** The first column is the time of a row. */
  readonly columns: readonly ExportColumn[];
  readonly place: PlaceColumns;
  /** If true, places are a track; otherwise they are separate points. */
  readonly isTrack: boolean;
  rows(): AsyncIterable<readonly Cell[]>;
}

/** Returns the name of a column with its unit, as in the header of a file. */
export function headerOf({ name, unit }: ExportColumn): string {
  return unit === undefined ? name : `${name} [${unit}]`;
}

/** Returns the UTC time as ISO 8601 text. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** Returns the name of the column with the UTC ms of a column of times. */
export function msName(name: string): string {
  return `${name} [ms]`;
}
