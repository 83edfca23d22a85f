/**
 * Times of readings as numbers. What is sampled has a rhythm that it keeps roughly, so a time is told by how many
 * intervals it is after the one before, and by how much it is off that:
 *
 *     time = previous + periods × interval + deviation
 *
 * All counts of periods come first, then all deviations: each column holds what is alike. With the interval 0 there
 * are deviations only.
 */
import { type NumberReader, type NumberWriter, REACH } from './numbers.ts';

/** Intervals that samplers are set to, ms. */
const COMMON = [10, 20, 50, 100, 200, 250, 500, 1_000, 2_000, 5_000, 10_000];
/** As many differences tell an interval as well as all of them. */
const SAMPLE = 16;
/** Longest interval, ticks. */
export const LONGEST: number = 2 ** 31;

/**
 * The interval, in ticks of `resolution` ms, in which the differences between successive times take the fewest bits;
 * 0 when none helps.
 */
export function intervalOf(lists: readonly (readonly number[])[], resolution: number): number {
  const differences = sample(lists);
  if (differences.length === 0) return 0;
  const middle = differences[differences.length >> 1]!;
  let best = 0;
  let least = costOf(differences, 0);
  for (const candidate of [middle, ...COMMON.map((time) => time / resolution)]) {
    if (candidate < 2 || candidate > LONGEST || !Number.isInteger(candidate)) continue;
    const cost = costOf(differences, candidate);
    if (cost >= least) continue;
    least = cost;
    best = candidate;
  }
  return best;
}

/** Positive differences from all over the lists, ascending. */
function sample(lists: readonly (readonly number[])[]): number[] {
  const total = lists.reduce((sum, list) => sum + list.length - 1, 0);
  const stride = Math.ceil(total / SAMPLE);
  const found: number[] = [];
  let next = 0;
  for (const list of lists) {
    const differences = list.length - 1;
    for (; next < differences; next += stride) {
      const difference = list[next + 1]! - list[next]!;
      if (difference > 0) found.push(difference);
    }
    next -= differences;
  }
  return found.sort((a, b) => a - b);
}

function costOf(differences: readonly number[], interval: number): number {
  let cost = 0;
  for (const difference of differences) {
    const periods = interval === 0 ? 1 : Math.round(difference / interval);
    cost += bitsOf(periods - 1) + bitsOf(interval === 0 ? difference : difference - periods * interval);
  }
  return cost;
}

/** Lists of times and the interval, in ticks, that tells them shortest. */
export interface TimeLists {
  readonly lists: readonly (readonly number[])[];
  readonly interval: number;
}

/** About as many bits as the times will take, for choosing between forms. */
export function bitsOfTimes({ lists, interval }: TimeLists): number {
  let bits = 0;
  for (const list of lists) {
    let previous = -interval;
    for (const time of list) {
      const difference = time - previous;
      const periods = interval === 0 ? 0 : Math.round(difference / interval);
      if (interval !== 0) bits += bitsOf(periods - 1);
      bits += bitsOf(difference - periods * interval);
      previous = time;
    }
  }
  return bits;
}

/** Length of a number in bits, its sign counted; 0 for 0. */
export function bitsOf(value: number): number {
  return value === 0 ? 0 : 33 - Math.clz32(Math.min(Math.abs(value), 0xffff_ffff));
}

/** Writes the times of lists, each list beginning one interval before the time 0. */
export function writeTimes({ lists, interval }: TimeLists, writer: NumberWriter): void {
  const deviations: number[] = [];
  for (const list of lists) {
    let previous = -interval;
    for (const time of list) {
      const difference = time - previous;
      previous = time;
      if (interval === 0) deviations.push(difference);
      else {
        const periods = Math.round(difference / interval);
        writer.signed(periods - 1);
        deviations.push(difference - periods * interval);
      }
    }
  }
  for (const deviation of deviations) writer.signed(deviation);
}

/** Reads what {@link writeTimes} wrote: as many times for each list as `counts` says; the counts are bounded before. */
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
