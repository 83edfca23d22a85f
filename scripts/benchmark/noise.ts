/** Measures how steady the machine is during the benchmark, by repeating a fixed piece of work for the processor. */
import { figure } from './contest.ts';

const TRIES = 15;

/** Returns the duration of the work in ms. */
function pieceOfWork(): number {
  const from = performance.now();
  let sum = 0;
  for (let i = 0; i < 3_000_000; i++) sum = (sum + i * 7) ^ (sum >>> 3);
  if (!Number.isInteger(sum)) throw new Error('the work was not done');
  return performance.now() - from;
}

export class MachineNoise {
  readonly times: number[];

  /** @param earlier times in ms from the run that this one continues */
  constructor(earlier: readonly number[] = []) {
    this.times = [...earlier];
  }

  /** Call before each section. */
  listen(): void {
    for (let i = 0; i < TRIES; i++) this.times.push(pieceOfWork());
  }

  /** Sentence for the page of results. */
  get told(): string {
    const times = this.times.toSorted((a, b) => a - b);
    const [least = Number.NaN, most = Number.NaN] = [times[0], times[Math.floor(0.9 * times.length)]];
    return `Noise of the machine: a fixed piece of work, done ${TRIES} times before each section, took ${figure(least)} ms at best and up to ${figure(most)} ms in nine of ten tries: ${((most / least - 1) * 100).toFixed(0)} % more.`;
  }
}
