/** Table of `scripts/fleet/requests.md`. */
import type { RequestFigures } from './requests.ts';

export interface FilledSize {
  readonly cars: number;
  /** Number of messages of each car. */
  readonly messages: number;
}

export interface SizeFigures {
  readonly rounds: number;
  readonly pages: readonly RequestFigures[];
  /** Load average at the end of the measurement, and the number of cores. */
  readonly load: number;
  readonly cores: number;
}

/** Returns the figures of a small and of a large database, and the exponent of their growth. */
export function requestTable([small, large]: readonly (FilledSize & SizeFigures)[]): string {
  if (small === undefined || large === undefined) throw new Error('the table compares two sizes');
  const growth = countOf(large) / countOf(small);
  const rows = large.pages.map(({ name, statements, times }) => {
    const before = small.pages.find((one) => one.name === name)?.times ?? [];
    const exponent = Math.log(quantile(times, 0.5) / quantile(before, 0.5)) / Math.log(growth);
    const cells = [name, statements, ...both(before), ...both(times), exponent.toFixed(2)];
    return `| ${cells.join(' | ')} |`;
  });
  const [first, second] = [small, large].map((one) => countOf(one).toLocaleString('en'));
  const loads = [small, large].map(({ load }) => load.toFixed(1)).join(' and ');
  return [
    '# Requests at size',
    '',
    'Written by `npm run fleet:requests`; do not edit.',
    '',
    `${large.rounds} requests of each page, each for another car, one at a time through the handlers of a hub without HTTP.`,
    `PostgreSQL has its default settings. Load average at the end: ${loads} on ${large.cores} cores.`,
    '',
    `| page | statements | ${first} messages: median, ms | 99 % | ${second}: median, ms | 99 % | exponent |`,
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows,
    '',
  ].join('\n');
}

function countOf({ cars, messages }: FilledSize): number {
  return cars * messages;
}

function both(times: readonly number[]): string[] {
  return [0.5, 0.99].map((part) => quantile(times, part).toFixed(1));
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0;
}
