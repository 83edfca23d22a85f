/** Retention of the car's records. */

import { DAY, EARLIEST_TIME } from '../../protocol/calendar.ts';

/** Retention of one collection: drops records older than `days`, and the oldest ones beyond `bytes`. */
export interface RecordRule {
  /** Maximum age in days of 24 hours, by the record's own time. */
  readonly days: number;
  /** Maximum size on disk in bytes. */
  readonly bytes: number;
}

/** Rules by collection name; omitted fields default to {@link defaultRule}. */
export type RecordRules = Readonly<Record<string, Partial<RecordRule>>>;

const mebibyte = 1 << 20;

/** Rule for collections that have none: two months of trips and alerts stay far below the size limit. */
export const defaultRule: RecordRule = { days: 60, bytes: 16 * mebibyte };

/** Rules for time series, which can collect more records than are worth the space. */
const seriesRules: RecordRules = {
  telemetry: { bytes: 64 * mebibyte },
  signals: { bytes: 64 * mebibyte },
  text: {},
  waypoint: { bytes: 16 * mebibyte },
  capture: { bytes: 16 * mebibyte },
};

export function ruleOf(collection: string, rules: RecordRules): RecordRule {
  return { ...defaultRule, ...seriesRules[collection], ...rules[collection] };
}

/** Returns true if the collection is a time series, which may be thinned out if space or flash endurance runs short. */
export function isSeries(collection: string): boolean {
  return collection in seriesRules;
}

/**
 * Returns the cutoff in UTC ms, or -Infinity while the time is not trusted. Callers drop older records, except those
 * before {@link EARLIEST_TIME}, whose time is wrong.
 */
export function horizon(rule: RecordRule, now: number | undefined): number {
  return now === undefined ? Number.NEGATIVE_INFINITY : now - rule.days * DAY;
}
