/** Finds the fields of messages that correlate with a value that was measured separately from the bus. */
import { ERROR, type FrameBatch, REMOTE } from '../../../agent/ports.ts';
import { bitsOf, longestPayload } from '../dbc/layout.ts';
import { type WordField, wordFields, wordValue } from './word-fields.ts';

/** A value over time, in order. */
export interface Reference {
  /** In milliseconds: UTC, or since the first frame of the log. */
  readonly times: readonly number[];
  readonly values: readonly number[];
  readonly relative: boolean;
}

/** A field and its correlation with the reference: value ≈ raw × scale + offset by least squares. */
export interface Correlation {
  readonly bus: string;
  /** Identifier with EXTENDED bit. */
  readonly id: number;
  readonly field: WordField;
  /** Pearson's coefficient, −1 to 1. */
  readonly coefficient: number;
  readonly scale: number;
  readonly offset: number;
  /** Number of reference times at which the field had a value. */
  readonly samples: number;
}

/** Minimum number of samples. */
const FEWEST = 10;
/** Coefficients that differ by less are equal: the narrower field is then preferred. */
const EQUAL = 1e-6;

/** Sums over the samples of one identifier; references are counted from their mean. */
class Sums {
  readonly bus: string;
  readonly id: number;
  /** The latest payload, with one byte of 0 after the longest. */
  readonly payload: Uint8Array = new Uint8Array(longestPayload + 1);
  length = 0;
  fields: readonly WordField[] = [];
  samples = 0;
  references = 0;
  squares = 0;
  /** By field: sums of the raw values, of their squares, and of their products with the reference. */
  raws = new Float64Array(0);
  rawSquares = new Float64Array(0);
  products = new Float64Array(0);
  #bytes = 0;

  constructor(bus: string, id: number) {
    this.bus = bus;
    this.id = id;
  }

  sample(reference: number): void {
    if (this.#bytes === 0) this.#begin();
    // A shorter payload lacks some of the fields, so it is not a sample.
    if (this.length < this.#bytes || this.#bytes === 0) return;
    this.samples++;
    this.references += reference;
    this.squares += reference * reference;
    const { fields, payload, raws, rawSquares, products } = this;
    for (let k = 0; k < fields.length; k++) {
      const raw = wordValue(payload, fields[k]!);
      raws[k]! += raw;
      rawSquares[k]! += raw * raw;
      products[k]! += raw * reference;
    }
  }

  /** @param mean of the references */
  correlations(mean: number): Correlation[] {
    const { bus, id, samples, references, squares } = this;
    const spread = squares - (references * references) / samples;
    if (samples < FEWEST || !(spread > 0)) return [];
    return this.fields.flatMap((field, k) => {
      const raw = this.raws[k]!;
      const rawSpread = this.rawSquares[k]! - (raw * raw) / samples;
      // The field had the same value at all samples, except for rounding.
      if (rawSpread < 0.5 / samples) return [];
      const common = this.products[k]! - (raw * references) / samples;
      const scale = common / rawSpread;
      const offset = mean + (references - scale * raw) / samples;
      const coefficient = Math.max(-1, Math.min(1, common / Math.sqrt(rawSpread * spread)));
      return [{ bus, id, field, coefficient, scale, offset, samples }];
    });
  }

  #begin(): void {
    this.#bytes = this.length;
    this.fields = wordFields(this.#bytes);
    this.raws = new Float64Array(this.fields.length);
    this.rawSquares = new Float64Array(this.fields.length);
    this.products = new Float64Array(this.fields.length);
  }
}

/** Samples the latest payload of each identifier at the times of the reference. */
export class Correlator {
  readonly #reference: Reference;
  readonly #mean: number;
  readonly #sums = new Map<string, Sums>();
  /** The same sums by bus number and identifier, in the current log. */
  readonly #numbered = new Map<number, Sums>();
  #next = 0;
  #begin = Number.NaN;

  constructor(reference: Reference) {
    this.#reference = reference;
    this.#mean = reference.values.reduce((sum, value) => sum + value, 0) / reference.values.length;
  }

  /** @param buses names that {@link FrameBatch.bus} indexes in this log */
  add(batch: FrameBatch, buses: readonly string[]): void {
    const { at, id, bus, length, offset, data } = batch;
    for (let i = 0; i < batch.count; i++) {
      if (Number.isNaN(this.#begin)) this.#start(at[i]!);
      this.#sampleUntil(at[i]!);
      if ((id[i]! & (REMOTE | ERROR)) !== 0) continue;
      const sums = this.#sumsOf(bus[i]!, id[i]!, buses);
      const from = offset[i]!;
      const bytes = length[i]!;
      for (let k = 0; k < bytes; k++) sums.payload[k] = data[from + k]!;
      sums.length = bytes;
    }
  }

  /** Call before the frames of another log: the values of the previous log do not apply to it. */
  endLog(): void {
    this.#numbered.clear();
    this.#begin = Number.NaN;
    for (const sums of this.#sums.values()) sums.length = 0;
  }

  /**
   * Returns at most `most` fields, best first, whose coefficient is at least `least` in absolute value. If fields share
   * bits, only the best is returned, or the narrowest of equals.
   */
  correlations(least: number, most: number): Correlation[] {
    const found = [...this.#sums.values()].flatMap((sums) => sums.correlations(this.#mean));
    const size = ({ coefficient }: Correlation): number => Math.round(Math.abs(coefficient) / EQUAL);
    found.sort(
      (a, b) => size(b) - size(a) || a.field.length - b.field.length || Number(a.field.signed) - Number(b.field.signed),
    );
    const taken = new Map<string, Set<number>>();
    const chosen: Correlation[] = [];
    for (const one of found) {
      if (chosen.length >= most || Math.abs(one.coefficient) < least) break;
      const key = `${one.bus} ${one.id}`;
      const bits = taken.get(key) ?? new Set();
      const own = bitsOf(one.field);
      if (own.some((bit) => bits.has(bit))) continue;
      taken.set(key, new Set([...bits, ...own]));
      chosen.push(one);
    }
    return chosen;
  }

  /** Number of reference times within the logs. */
  get samples(): number {
    return [...this.#sums.values()].reduce((most, { samples }) => Math.max(most, samples), 0);
  }

  #start(first: number): void {
    this.#begin = this.#reference.relative ? first : 0;
    this.#next = 0;
    const { times } = this.#reference;
    while (this.#next < times.length && times[this.#next]! + this.#begin < first) this.#next++;
  }

  /** Takes a sample for each reference time before this frame. */
  #sampleUntil(time: number): void {
    const { times, values } = this.#reference;
    while (this.#next < times.length && times[this.#next]! + this.#begin < time) {
      const reference = values[this.#next]! - this.#mean;
      for (const sums of this.#sums.values()) sums.sample(reference);
      this.#next++;
    }
  }

  #sumsOf(bus: number, id: number, buses: readonly string[]): Sums {
    const key = bus * 0x1_0000_0000 + id;
    const known = this.#numbered.get(key);
    if (known !== undefined) return known;
    const name = `${buses[bus]} ${id}`;
    const sums = this.#sums.get(name) ?? new Sums(buses[bus]!, id);
    this.#sums.set(name, sums);
    this.#numbered.set(key, sums);
    return sums;
  }
}
