/** Samples of several signals at common times: columns for a plot, and a table for other programs. */
import type { Samples } from './bus-store.ts';

/** A value is undefined if its signal has no sample at that time. */
export type Columns = readonly [times: readonly number[], ...values: (number | undefined)[][]];

/** Returns the ascending times of all signals, and the values of each signal at these times. */
export function columnsOf(signals: readonly (Samples | undefined)[]): Columns {
  const times = [...new Set(signals.flatMap((samples) => samples?.times ?? []))].sort((a, b) => a - b);
  const values = signals.map((samples) => {
    let next = 0;
    return times.map((time) => (samples?.times[next] === time ? samples.values[next++] : undefined));
  });
  return [times, ...values];
}

/** Returns the index of the newest value at or before `time`; -1 if there is none. */
export function placeAt(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Returns CSV (RFC 4180) with times in UTC. A field is empty if a signal has no value at that time. */
export function csvOf(names: readonly string[], [times, ...values]: Columns): string {
  const head = ['time', ...names].map(field).join(',');
  const rows = times.map((time, i) =>
    [new Date(time).toISOString(), ...values.map((column) => column[i] ?? '')].join(','),
  );
  return `${[head, ...rows].join('\r\n')}\r\n`;
}

function field(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
