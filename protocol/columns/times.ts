/**
 * Times of readings as numbers. Samples have a roughly regular interval, so a time is written as the number of
 * intervals since the previous time, and the deviation from that:
 *
 *     time = previous + periods × interval + deviation
 *
 * All period counts precede all deviations, so that each column contains similar numbers. If the interval is 0, there
 * are only deviations.
 */
import { type NumberReader, type NumberWriter, REACH } from './numbers.ts';

/** Common intervals of samplers in ms. */
const COMMON = [10, 20, 50, 100, 200, 250, 500, 1_000, 2_000, 5_000, 10_000];
/** Number of differences that is sufficient to find the interval. */
const SAMPLE = 16;
/** Longest interval in ticks. */
export const LONGEST: number = 2 ** 31;

/** Lists of times in sequence; each list belongs to one series, or is the shared table. */
interface TimeLists {
  /** In ticks. */
  readonly times: readonly number[];
  /** Number of times in each list. */
  readonly sizes: readonly number[];
}

/** Encoded times; see the top of this file. */
export interface TimeColumns {
  /** In ticks; 0: no interval. */
  readonly interval: number;
  /** For each time: the number of intervals since the previous one, minus one. Empty if the interval is 0. */
  readonly periods: readonly number[];
  /** For each time. */
  readonly deviations: readonly number[];
  /** Estimated size in bits, for choosing between forms. */
  readonly bits: number;
}

/**
 * Returns the columns with the interval that encodes the times in the fewest bits.
 * @param start time from which the reader counts: each list begins one interval before it
 * @param resolution length of a tick in ms
 */
export function timeColumns({ times, sizes }: TimeLists, start: number, resolution: number): TimeColumns {
  const interval = intervalOf(times, sizes, resolution);
  const periods = new Array<number>(interval === 0 ? 0 : times.length);
  const deviations = new Array<number>(times.length);
  let bits = 0;
  let next = 0;
  for (const size of sizes) {
    let previous = start - interval;
    for (const end = next + size; next < end; next++) {
      const time = times[next]!;
      const difference = time - previous;
      previous = time;
      let deviation = difference;
      if (interval !== 0) {
        const count = Math.round(difference / interval);
        deviation = difference - count * interval;
        periods[next] = count - 1;
        bits += bitsOf(count - 1);
      }
      deviations[next] = deviation;
      bits += bitsOf(deviation);
    }
  }
  return { interval, periods, deviations, bits };
}

/**
 * Returns the interval, in ticks of `resolution` ms, with which the differences between successive times need the
 * fewest bits, or 0 if none helps.
 */
function intervalOf(times: readonly number[], sizes: readonly number[], resolution: number): number {
  const differences = sample(times, sizes);
  if (differences.length === 0) return 0;
  let best = 0;
  let least = 0;
  for (const difference of differences) least += bitsOf(difference);
  for (let i = -1; i < COMMON.length; i++) {
    const candidate = i < 0 ? differences[differences.length >> 1]! : COMMON[i]! / resolution;
    if (candidate < 2 || candidate > LONGEST || !Number.isInteger(candidate)) continue;
    const cost = costOf(differences, candidate, least);
    if (cost >= least) continue;
    least = cost;
    best = candidate;
  }
  return best;
}

/** Returns positive differences from all parts of the lists, ascending. */
function sample(times: readonly number[], sizes: readonly number[]): number[] {
  const stride = Math.ceil((times.length - sizes.length) / SAMPLE);
  const found: number[] = [];
  let next = 0;
  let first = 0;
  for (const size of sizes) {
    const differences = size - 1;
    for (; next < differences; next += stride) {
      const difference = times[first + next + 1]! - times[first + next]!;
      if (difference <= 0) continue;
      let place = found.length;
      for (; place > 0 && found[place - 1]! > difference; place--) found[place] = found[place - 1]!;
      found[place] = difference;
    }
    next -= differences;
    first += size;
  }
  return found;
}

/** Returns the bits of the differences for this interval. A result of `most` or more may be too small. */
function costOf(differences: readonly number[], interval: number, most: number): number {
  let cost = 0;
  for (const difference of differences) {
    const periods = Math.round(difference / interval);
    cost += bitsOf(periods - 1) + bitsOf(difference - periods * interval);
    if (cost >= most) break;
  }
  return cost;
}

/** Returns the length of a number in bits, including its sign; 0 for 0. */
export function bitsOf(value: number): number {
  return value === 0 ? 0 : 33 - Math.clz32(Math.min(Math.abs(value), 0xffff_ffff));
}

/** Writes all period counts, then all deviations. The caller writes the interval. */
export function writeTimes({ periods, deviations }: TimeColumns, writer: NumberWriter): void {
  writer.signedAll(periods);
  writer.signedAll(deviations);
}

/** Reads the output of {@link writeTimes}. `counts` contains the length of each list, which the caller has bounded. */
export function readTimes(counts: readonly number[], interval: number, reader: NumberReader): number[][] {
  const periods = interval === 0 ? [] : counts.map((count) => readSigned(count, reader));
  return counts.map((count, list) => {
    let previous = -interval;
    return readSigned(count, reader).map((deviation, index) => {
      const way = interval === 0 ? 0 : (periods[list]![index]! + 1) * interval;
      previous += way + deviation;
      if (Math.abs(previous) > REACH) throw reader.fault('have a time beyond 2^51');
      return previous;
    });
  });
}

function readSigned(count: number, reader: NumberReader): number[] {
  const numbers: number[] = [];
  for (let i = 0; i < count; i++) numbers.push(reader.signed());
  return numbers;
}
