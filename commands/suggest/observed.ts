/** Data about one signal from a log. */
export interface Observed {
  /** Observed raw values, limited to the first {@link mostValues}; empty for a float. */
  readonly raws: ReadonlySet<number>;
  /** Smallest and largest physical value, excluding probable codes; omitted if there was no other value. */
  readonly span?: readonly [minimum: number, maximum: number];
  /** Number of changes of the value, and number of decreases, excluding codes. */
  readonly changes: number;
  readonly falls: number;
  /** Its validity in the log; omitted without a signal that states it. */
  readonly validity?: ObservedValidity;
  /** Median time between frames, ms; omitted after a single frame. */
  readonly period?: number;
}

/** Content of a log while a signal was invalid. */
export interface ObservedValidity {
  /** Name of the signal that states it. */
  readonly signal: string;
  /** Number of different payloads with an invalid value. */
  readonly invalid: number;
  /** Raw values that occurred only while invalid; undefined if others occurred too, or too many. */
  readonly codes?: readonly number[];
}

/** Largest number of different raw values of a signal that are stored. */
export const mostValues = 64;
