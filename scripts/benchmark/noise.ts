/** Measures how steady the machine is during the benchmark, with a fixed piece of processor work that is repeated. */
import { figure } from './contest.ts';

const TRIES = 15;

/** Returns the duration of the work, ms. */
function pieceOfWork(): number {
  const from = performance.now();
  let sum = 0;
  for (let i = 0; i < 3_000_000; i++) sum = (sum + i * 7) ^ (sum >>> 3);
  if (!Number.isInteger(sum)) throw new Error('the work was not done');
  return performance.now() - from;
}

export class MachineNoise {
  readonly times: number[];

  /** @param earlier times of a run that this one continues, ms */
  constructor(earlier: readonly number[] = []) {
    this.times = [...earlier];
  }

  /** Call before each section. */
  listen(): void {
    for (let i = 0; i < TRIES; i++) this.times.push(pieceOfWork());
  }

  /** Sentence for the page. */
  get told(): string {
    const times = this.times.toSorted((a, b) => a - b);
    const [least = Number.NaN, most = Number.NaN] = [times[0], times[Math.floor(0.9 * times.length)]];
    return `Noise of the machine: a fixed piece of work, done ${TRIES} times before each section, took ${figure(least)} ms at best and up to ${figure(most)} ms in nine of ten tries: ${((most / least - 1) * 100).toFixed(0)} % more.`;
  }
}
