import type { BatchReadings, FrameBatch, FrameDecoder, ReadingSink } from '../ports.ts';

/** A sink that accepts, in one call, the repetition of a group of signals that always arrive together. */
export interface ColumnSink<G> extends ReadingSink {
  /** Prepares a group of signals that always arrive together. */
  group(signals: readonly number[]): G;
  /** Does the same as `alive` for a group. */
  aliveTogether(group: G, at: number): void;
}

/** A sink; only the sink itself reads its groups. */
// biome-ignore lint/suspicious/noExplicitAny: only the sink itself looks into its groups
export type AnyColumnSink = ColumnSink<any>;

/** Returns a sink that runs each operation within `take`. */
export function sinkWithin(take: (work: () => void) => void, sink: ReadingSink): ReadingSink {
  return {
    reading: (signal, value, raw, at) => take(() => sink.reading(signal, value, raw, at)),
    text: (signal, text, at) => take(() => sink.text?.(signal, text, at)),
    settled: (at) => take(() => sink.settled(at)),
    alive: (signals, at) => take(() => sink.alive(signals, at)),
  };
}

/** Applies the columns of one decoder to the mapping, as {@link FrameDecoder.decode} does value by value. */
class ColumnIntake<G> {
  readonly #read: (batch: FrameBatch) => BatchReadings;
  readonly #mapping: ColumnSink<G>;
  /** Groups by the number of the decoder's signal list. */
  readonly #groups: G[] = [];

  constructor(read: (batch: FrameBatch) => BatchReadings, mapping: ColumnSink<G>) {
    this.#read = read;
    this.#mapping = mapping;
  }

  take(batch: FrameBatch): void {
    const readings = this.#read(batch);
    const { at } = batch;
    const { count, values, raws } = readings;
    const mapping = this.#mapping;
    for (let i = 0; i < count; i++) {
      const when = at[readings.frame(i)] as number;
      let from = readings.begin(i);
      if (from < 0) {
        this.#alive(readings, i, when);
        continue;
      }
      const signals = readings.signals(i);
      if (signals.length === 0) continue;
      const step = readings.step(i);
      for (let k = 0; k < signals.length; k++, from += step) {
        mapping.reading(signals[k] as number, values[from] as number, raws[from] as number, when);
      }
      mapping.settled(when);
    }
  }

  #alive(readings: BatchReadings, i: number, at: number): void {
    const list = readings.list(i);
    if (list >= 0) {
      let group = this.#groups[list];
      if (group === undefined) {
        group = this.#mapping.group(readings.signals(i));
        this.#groups[list] = group;
      }
      this.#mapping.aliveTogether(group, at);
      return;
    }
    const signals = readings.signals(i);
    if (signals.length > 0) this.#mapping.alive(signals, at);
  }
}

/** Returns a function that applies the frames of a decoder to the mapping. */
export function intakeOf<G>(decoder: FrameDecoder, mapping: ColumnSink<G>): (batch: FrameBatch) => void {
  if (decoder.read === undefined) return (batch) => decoder.decode(batch, mapping);
  const columns = new ColumnIntake(decoder.read.bind(decoder), mapping);
  return (batch) => columns.take(batch);
}
