/** Retention of the car's records. */

import { DAY, EARLIEST_TIME } from '../../protocol/calendar.ts';

/** Retention of one collection: drops records older than `days`, and the oldest ones above `bytes`. */
export interface RecordRule {
  /** Maximum age by the record's own time, days of 24 hours. */
  readonly days: number;
  /** Maximum size on disk, bytes. */
  readonly bytes: number;
}

/** Rules by the name of the collection; omitted members are those of {@link defaultRule}. */
export type RecordRules = Readonly<Record<string, Partial<RecordRule>>>;

const mebibyte = 1 << 20;

/** Rule for collections without one: two months of trips and alerts are far below the limit on bytes. */
export const defaultRule: RecordRule = { days: 60, bytes: 16 * mebibyte };

/** Rules for series by time, which may collect more records than are worth the space. */
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

/** Returns true if the collection is a series that may be thinned out if space or flash endurance runs short. */
export function isSeries(collection: string): boolean {
  return collection in seriesRules;
}

/**
 * Returns the UTC time before which records are too old, ms, at least {@link EARLIEST_TIME}; minus infinity while no
 * time is certain.
 */
export function horizon(rule: RecordRule, now: number | undefined): number {
  return now === undefined ? Number.NEGATIVE_INFINITY : now - rule.days * DAY;
}
