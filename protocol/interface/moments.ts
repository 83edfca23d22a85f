/** Moments as the HTTP interface writes them. */
import { DAY } from '../schema/monitor/civil.ts';
import { dateOf } from './parameters/calendar-duration.ts';

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');

/**
 * An RFC 3339 date-time in UTC of a moment, UTC ms from year 0 to 9999; with milliseconds only when there are any:
 * `2026-01-31T08:00:00Z`, `2026-01-31T08:00:00.250Z`.
 */
export function dateTimeOf(at: number): string {
  const whole = Math.floor(at);
  const days = Math.floor(whole / DAY);
  const { year, month, day } = dateOf(days);
  const time = whole - days * DAY;
  const seconds = Math.floor(time / 1000);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map((part) =>
    padded(part, 2),
  );
  const fraction = time % 1000 === 0 ? '' : `.${padded(time % 1000, 3)}`;
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T${clock.join(':')}${fraction}Z`;
}
