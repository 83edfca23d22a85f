import { DAY } from '../protocol/calendar.ts';
import { VigieError } from '../protocol/errors.ts';

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY };

/** Returns the duration that an option states, in ms. @throws VigieError `usage.wrong` that names the option */
export function durationIn(text: string, option: string): number {
  const [, number = '', unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const duration = Number(number) * (UNITS_MS[unit] ?? 0);
  if (duration > 0) return duration;
  throw new VigieError('usage.wrong', `${option} needs a number with m, h or d, such as 8h`);
}
