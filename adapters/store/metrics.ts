/** Counters of the journal. */
import type { SegmentFindings } from './recovery.ts';

/** Counts since the journal was opened, and sizes after the last commit. */
export interface JournalMetrics extends SegmentFindings {
  segments: number;
  /** Number of files kept for reuse. */
  spares: number;
  /** Number of skipped whole records of a type that this version does not support. */
  unknown: number;
  /** Number of skipped records that do not match their type. */
  malformed: number;
  /** Number of flushes to the medium. */
  flushes: number;
  /** Bytes written, frames and checkpoints included. */
  written: number;
  /** Bytes written by compaction, part of `written`. */
  moved: number;
  /** Number of failed writes and flushes. */
  failures: number;
  /** Bytes of the records of existing entries. */
  live: number;
  /** Bytes of files that are kept for acknowledged messages. */
  kept: number;
  /** Bytes of all files. */
  disk: number;
  /** Maximum of {@link disk}. */
  diskBound: number;
  /** Bytes put on the medium, in whole pages. */
  flashed: number;
  /** Bytes put on the medium on the current UTC day, by earlier runs too. */
  flashedToday: number;
  /** Maximum of {@link flashedToday}. */
  flashedBound: number;
  /** Number of the car's records that were not stored because {@link flashedBound} was reached. */
  refused: number;
  /** Number of the car's records that were dropped by age or size. */
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
