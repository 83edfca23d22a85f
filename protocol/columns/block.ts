/**
 * A block: series of readings whose times have the same resolution, as columns of numbers (numbers.ts).
 *
 *     resolution                       ms of one tick
 *     series                           number of series
 *     interval                         ticks, see times.ts; 0: no interval
 *     moments                          number of times in the shared table; 0: each series has its own times
 *     slot number, for each series     see slot-numbers.ts
 *     count, for each series           number of readings minus one
 *     step, for each series            common divisor of all differences of its values
 *     first value, for each series     signed
 *     times                            of the table, or of all series
 *     moments, for each reading        only with a table: index minus previous index minus one, signed
 *     differences, for each reading but the first of a series: in steps, signed
 *
 * Columns of one kind are stored together, series after series, so that the compressor finds similar content.
 */
import { type NumberReader, type NumberWriter, REACH } from './numbers.ts';
import { type SeriesNumbers, slotNumbers } from './slot-numbers.ts';
import { stepOf } from './steps.ts';
import { bitsOf, LONGEST, readTimes, type TimeColumns, timeColumns, writeTimes } from './times.ts';

/** Readings of one slot in their order; both lists have the same length, at least 1. */
export interface ColumnSeries {
  /** Id of the slot. */
  readonly slot: number;
  /** In ticks since the start of the message, within ±2^51. */
  readonly times: readonly number[];
  /** Integers of the slot, within ±2^51. */
  readonly values: readonly number[];
}

interface Block {
  /** Length of a tick in ms; at least 1. */
  readonly resolution: number;
  readonly series: readonly ColumnSeries[];
}

/** Longest tick in ms. */
const LONGEST_TICK = 60_000;

/** Series of one slot while its readings are collected. */
export interface Gathering {
  /** Number of its slot, see slot-numbers.ts. */
  readonly rank: number;
  /** Index of each reading's time in the list of times. */
  readonly places: number[];
  readonly values: number[];
}

/** Collects readings of one resolution, in the order of measurement, and writes their block. */
export class BlockWriter {
  readonly #resolution: number;
  readonly #numbers: SeriesNumbers;
  /** Tick of the first reading. */
  #origin = 0;
  /**
   * Times in ticks since the first reading: small integers are faster than the milliseconds of 50 years. Successive
   * readings with the same time share an entry.
   */
  readonly #moments: number[] = [];
  #last = Number.NaN;
  /** In the order of ranks. */
  readonly #series: Gathering[] = [];
  #total = 0;

  /** @param resolution length of a tick in ms */
  constructor(resolution: number, numbers: SeriesNumbers = slotNumbers) {
    this.#resolution = resolution;
    this.#numbers = numbers;
  }

  /** Adds a slot that has no series yet. Pass the result to {@link add}. */
  series(slot: number): Gathering {
    const added: Gathering = { rank: this.#numbers.rankOf(slot), places: [], values: [] };
    const series = this.#series;
    let place = series.length;
    for (; place > 0 && series[place - 1]!.rank > added.rank; place--) series[place] = series[place - 1]!;
    series[place] = added;
    return added;
  }

  /** @param tick counted from the same origin as the start passed to {@link write} */
  add(series: Gathering, tick: number, value: number): void {
    const moments = this.#moments;
    if (tick !== this.#last) {
      if (moments.length === 0) this.#origin = tick;
      this.#last = tick;
      moments.push(tick - this.#origin);
    }
    series.places.push(moments.length - 1);
    series.values.push(value);
    this.#total++;
  }

  /** @param start tick from which the times are counted */
  write(start: number, writer: NumberWriter): void {
    const series = this.#series;
    const { shared, times } = this.#timesOf(series, start - this.#origin);
    writer.unsigned(this.#resolution);
    writer.unsigned(series.length);
    writer.unsigned(times.interval);
    writer.unsigned(shared ? this.#moments.length : 0);
    this.#numbers.write(
      series.map(({ rank }) => rank),
      writer,
    );
    for (const { values } of series) writer.unsigned(values.length - 1);
    const steps = series.map(({ values }) => stepOf(values));
    for (const step of steps) writer.unsigned(step);
    for (const { values } of series) writer.signed(values[0]!);
    writeTimes(times, writer);
    if (shared) for (const { places } of series) writePlaces(places, writer);
    for (let i = 0; i < series.length; i++) writeDifferences(series[i]!.values, steps[i]!, writer);
  }

  /**
   * Returns the shorter form of the times: a table that series share, or separate times for each series.
   * @param start ticks from the first reading to the origin of the times
   */
  #timesOf(series: readonly Gathering[], start: number): Told {
    const moments = this.#moments;
    const lists = { times: new Array<number>(this.#total), sizes: new Array<number>(series.length) };
    let next = 0;
    for (let i = 0; i < series.length; i++) {
      const { places } = series[i]!;
      lists.sizes[i] = places.length;
      for (let j = 0; j < places.length; j++) lists.times[next++] = moments[places[j]!]!;
    }
    const own = timeColumns(lists, start, this.#resolution);
    // If nearly all times belong to one series only, a table is not shorter.
    if (moments.length >= this.#total * 0.9) return { times: own, shared: false };
    const left = own.bits - bitsOfPlaces(series, own.bits);
    if (left <= 0) return { times: own, shared: false };
    const table = timeColumns({ times: moments, sizes: [moments.length] }, start, this.#resolution);
    return table.bits < left ? { times: table, shared: true } : { times: own, shared: false };
  }
}

/** Times of a block; `shared` means that they are the table of times. */
interface Told {
  readonly times: TimeColumns;
  readonly shared: boolean;
}

/** Estimates the bits of the indexes in the table; a result of `most` or more may be too small. */
function bitsOfPlaces(series: readonly Gathering[], most: number): number {
  let bits = 0;
  for (let i = 0; i < series.length && bits < most; i++) {
    const { places } = series[i]!;
    let previous = -1;
    for (let j = 0; j < places.length; j++) {
      bits += bitsOf(places[j]! - previous - 1);
      previous = places[j]!;
    }
  }
  return bits;
}

function writePlaces(places: readonly number[], writer: NumberWriter): void {
  let previous = -1;
  for (const place of places) {
    writer.signed(place - previous - 1);
    previous = place;
  }
}

function writeDifferences(values: readonly number[], step: number, writer: NumberWriter): void {
  for (let i = 1; i < values.length; i++) writer.signed((values[i]! - values[i - 1]!) / step);
}

/** Reads a block of at most `limit` readings. Allocates memory only in proportion to the bytes present. */
export function readBlock(reader: NumberReader, limit: number, numbers: SeriesNumbers = slotNumbers): Block {
  const resolution = reader.unsigned();
  if (resolution < 1 || resolution > LONGEST_TICK) throw reader.fault(`have a tick of ${resolution} ms`);
  const size = reader.unsigned();
  const interval = reader.unsigned();
  const moments = reader.unsigned();
  if (size === 0 || size > reader.left || moments > reader.left) throw reader.fault('promise more than there is');
  if (interval > LONGEST) throw reader.fault('have an interval beyond 2^31');
  const slots = numbers.read(size, reader);
  let total = 0;
  const counts = slots.map(() => {
    const count = reader.unsigned() + 1;
    total += count;
    if (total > limit || total > reader.left) throw reader.fault(`promise ${total} readings or more`);
    return count;
  });
  const steps = slots.map(() => reader.unsigned());
  if (steps.includes(0)) throw reader.fault('have a step of 0');
  const firsts = slots.map(() => within(reader.signed(), reader));
  const times = moments === 0 ? readTimes(counts, interval, reader) : readPlaces(counts, moments, interval, reader);
  const series = slots.map((slot, index): ColumnSeries => {
    const values = [firsts[index]!];
    for (let i = 1; i < counts[index]!; i++) {
      values.push(within(values[i - 1]! + reader.signed() * steps[index]!, reader));
    }
    return { slot, times: times[index]!, values };
  });
  return { resolution, series };
}

function readPlaces(counts: readonly number[], moments: number, interval: number, reader: NumberReader): number[][] {
  const [table = []] = readTimes([moments], interval, reader);
  return counts.map((count) => {
    const times: number[] = [];
    let place = -1;
    while (times.length < count) {
      place += reader.signed() + 1;
      const time = table[place];
      if (time === undefined) throw reader.fault(`name the moment ${place} of ${moments}`);
      times.push(time);
    }
    return times;
  });
}

function within(value: number, reader: NumberReader): number {
  if (Math.abs(value) <= REACH) return value;
  throw reader.fault('have a value beyond 2^51');
}
