/** Durations and sizes as people write them. The schemas accept only what these functions can read. */

import { DAY } from '../protocol/calendar.ts';

const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY };

const bytes: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
};

/** Converts a duration such as `1.5s`, or a number of milliseconds, to whole milliseconds. Returns at least 1. */
export function readDuration(written: number | string): number {
  return scaled(written, milliseconds);
}

/** Converts a size such as `64MiB`, or a number of bytes, to whole bytes. Returns at least 1. */
export function readSize(written: number | string): number {
  return scaled(written, bytes);
}

/** Returns the shortest string that {@link readDuration} converts to exactly this time. */
export function writeDuration(time: number): string {
  for (const unit of ['d', 'h', 'm', 's']) {
    if (time % (milliseconds[unit] as number) === 0) return `${time / (milliseconds[unit] as number)}${unit}`;
  }
  return `${time}ms`;
}

function scaled(written: number | string, units: Readonly<Record<string, number>>): number {
  if (typeof written === 'number') return written;
  const unit = /[A-Za-z]+$/.exec(written)?.[0] ?? '';
  const factor = units[unit];
  if (factor === undefined) throw new RangeError(`no unit in ${written}`);
  return Math.max(1, Math.round(Number(written.slice(0, -unit.length)) * factor));
}
