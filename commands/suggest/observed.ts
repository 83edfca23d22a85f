/** What a log shows of one signal. */
export interface Observed {
  /** Frames that had the signal. */
  readonly count: number;
  /** Raw values to how often each was seen; of more values than {@link mostValues} the first ones. */
  readonly raws: ReadonlyMap<number, number>;
  /** More raw values were seen than `raws` has. */
  readonly more: boolean;
  /** Smallest and largest physical value, and those without the codes that lie outside the range of the file. */
  readonly minimum: number;
  readonly maximum: number;
  /** Times that the value became another one, and times that it became smaller. */
  readonly changes: number;
  readonly falls: number;
  /** Milliseconds between frames, the usual; undefined of a single frame. */
  readonly period?: number;
}

/** Different raw values of a signal that are kept. */
export const mostValues = 64;
