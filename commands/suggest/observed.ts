/** Data about one signal from a log. */
export interface Observed {
  /** Observed raw values, limited to the first {@link mostValues}; empty for a float. */
  readonly raws: ReadonlySet<number>;
  /** Smallest and largest physical value, excluding probable codes. Omitted if there were only codes. */
  readonly span?: readonly [minimum: number, maximum: number];
  /** Number of changes of the value, and number of decreases. Codes do not count. */
  readonly changes: number;
  readonly falls: number;
  /** Validity of the signal in the log. Omitted if no signal states it. */
  readonly validity?: ObservedValidity;
  /** Median time between frames in ms. Omitted if there was only one frame. */
  readonly period?: number;
}

/** Contents of a log while a signal was invalid. */
export interface ObservedValidity {
  /** Name of the signal that states the validity. */
  readonly signal: string;
  /** Number of different payloads in which the value was invalid. */
  readonly invalid: number;
  /** Raw values that occurred only while invalid. Undefined if one also occurred while valid, or there are too many. */
  readonly codes?: readonly number[];
}

/** Largest number of different raw values of a signal that are stored. */
export const mostValues = 64;
