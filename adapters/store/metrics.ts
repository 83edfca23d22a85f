/** Counters of the journal. */
import type { SegmentFindings } from './recovery.ts';

/** Counts since the journal was opened, and sizes after the last commit. */
export interface JournalMetrics extends SegmentFindings {
  segments: number;
  /** Number of files kept for reuse. */
  spares: number;
  /** Number of whole records skipped because this version does not support their type. */
  unknown: number;
  /** Number of records skipped because they do not match their type. */
  malformed: number;
  /** Number of flushes to the medium. */
  flushes: number;
  /** Number of bytes written, including frames and checkpoints. */
  written: number;
  /** Number of bytes written by compaction, included in `written`. */
  moved: number;
  /** Number of failed writes and flushes. */
  failures: number;
  /** Bytes of the records of existing entries. */
  live: number;
  /** Bytes of the files kept for their acknowledged messages. */
  kept: number;
  /** Bytes of all files. */
  disk: number;
  /** Limit on {@link disk}. */
  diskBound: number;
  /** Bytes written to the medium, counted in whole pages. */
  flashed: number;
  /** Bytes written to the medium on the current UTC day, including earlier runs. */
  flashedToday: number;
  /** Limit on {@link flashedToday}. */
  flashedBound: number;
  /** Number of records of the car not stored because {@link flashedBound} was reached. */
  refused: number;
  /** Number of records of the car dropped because of age or size. */
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
