/** Counters of the journal. */
import type { SegmentFindings } from './recovery.ts';

/** Counts since the journal was opened, sizes as they are after the last commit. */
export interface JournalMetrics extends SegmentFindings {
  segments: number;
  /** Files kept to be used again. */
  spares: number;
  /** Whole records of a type this version does not know, skipped. */
  unknown: number;
  /** Number of skipped records that do not match their type. */
  malformed: number;
  /** Flushes to the medium. */
  flushes: number;
  /** Bytes written, frames and checkpoints included. */
  written: number;
  /** Those of them by compaction. */
  moved: number;
  /** Writes and flushes that failed. */
  failures: number;
  /** Bytes of records of what exists. */
  live: number;
  /** Bytes of files that are kept for acknowledged messages. */
  kept: number;
  /** Bytes of all files. */
  disk: number;
  /** The bound on {@link disk}. */
  diskBound: number;
  /** Bytes put on the medium, in whole pages. */
  flashed: number;
  /** Those of them on the current day of UTC, with earlier runs. */
  flashedToday: number;
  /** The bound on {@link flashedToday}. */
  flashedBound: number;
  /** Records of the car that were not kept because {@link flashedBound} was reached. */
  refused: number;
  /** Records of the car that were dropped by age or size. */
  retired: number;
}

export function noMetrics(): JournalMetrics {
  return {
    segments: 0,
    spares: 0,
    damaged: 0,
    torn: 0,
    aside: 0,
    unknown: 0,
    malformed: 0,
    flushes: 0,
    written: 0,
    moved: 0,
    failures: 0,
    live: 0,
    kept: 0,
    disk: 0,
    diskBound: 0,
    flashed: 0,
    flashedToday: 0,
    flashedBound: 0,
    refused: 0,
    retired: 0,
  };
}
