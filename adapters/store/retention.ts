/** How long records of the car are kept. */

import { DAY, EARLIEST_TIME } from '../../protocol/calendar.ts';

/** Retention of one collection: what is older goes, and the oldest when they take more. */
export interface RecordRule {
  /** Days of 24 hours, by the record's own time. */
  readonly days: number;
  /** Bytes on disk. */
  readonly bytes: number;
}

/** Rules by the name of the collection; a part left out is that of {@link defaultRule}. */
export type RecordRules = Readonly<Record<string, Partial<RecordRule>>>;

const mebibyte = 1 << 20;

/** For collections without a rule: two months of trips and alerts are far from the bound on bytes. */
export const defaultRule: RecordRule = { days: 60, bytes: 16 * mebibyte };

/** Series by time, of which there may be more than is worth the space. */
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

/** Whether the collection is a series that may be thinned out when space or flash runs short. */
export function isSeries(collection: string): boolean {
  return collection in seriesRules;
}

/**
 * UTC milliseconds before which records are too old, down to {@link EARLIEST_TIME}; minus infinity while no
 * time is sure.
 */
export function horizon(rule: RecordRule, now: number | undefined): number {
  return now === undefined ? Number.NEGATIVE_INFINITY : now - rule.days * DAY;
}
