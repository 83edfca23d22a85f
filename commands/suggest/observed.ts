/** Facts of a log about one signal. */
export interface Observed {
  /** Raw values that were seen; of more than {@link mostValues} the first ones. Of a float none. */
  readonly raws: ReadonlySet<number>;
  /** Smallest and largest physical value, without those that are most likely codes; absent when there was no other. */
  readonly span?: readonly [minimum: number, maximum: number];
  /** Times that the value became another one, and times that it became smaller; codes left out. */
  readonly changes: number;
  readonly falls: number;
  /** Milliseconds between frames, the median; absent of a single frame. */
  readonly period?: number;
}

/** Different raw values of a signal that are kept. */
export const mostValues = 64;
