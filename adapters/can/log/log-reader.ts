/** Content of a log in any format. */
import type { FrameBatch } from '../../../agent/ports.ts';
import type { Diagnostic } from '../../../protocol/diagnostic.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { LogPart } from './format.ts';
import type { LogFormat } from './formats.ts';
import type { LeftOut, Recording } from './recording.ts';

export interface LogReader {
  /** Name of the format in {@link logFormats}; for an archive, that of its first recording. */
  readonly format: LogFormat;
  /** Bus names that {@link FrameBatch.bus} indexes; grows while reading. */
  readonly buses: readonly string[];
  /** Size of the file on disk in bytes; 0 for standard input. */
  readonly size: number;
  /** Number of bytes of the file read so far, for a progress bar. */
  readonly position: number;
  /** Number of frames read so far, with error frames. */
  readonly frames: number;
  /** Records that could not be read: their number, and the first ten with file and line. */
  readonly faults: { readonly count: number; readonly first: readonly Diagnostic[] };
  /** The same faults, counted by reason. */
  readonly leftOut: readonly LeftOut[];
  /** Entries that are not CAN data or remote frames (comments, events, frames of other buses), counted by kind. */
  readonly passedOver: ReadonlyMap<string, number>;
  /** For a file in parts, such as the channel groups of MDF4: the progress in each part. */
  readonly parts?: readonly LogPart[];
  /**
   * Yields the frames in the order of the file. Each step refills the same batch. Its frames are in order of
   * time only if the log is. Can be iterated once. Throws `input.unreadable` if the file becomes unreadable.
   */
  batches(): AsyncIterable<FrameBatch>;
  close(): Promise<void>;
}

export interface LogOptions {
  /** Format of the log. If given, it is not detected by content. */
  readonly format?: LogFormat;
  /** Name of the bus to which all frames are assigned, whatever the log contains. */
  readonly bus?: string;
  /** Columns of a table, e.g. `time,id,dlc,data`, whatever the content; `-` is a skipped column. */
  readonly columns?: string;
}

/** Base of every {@link LogReader}, which reports the content of its {@link Recording}. */
export class RecordingLog {
  frames = 0;
  protected readonly recording: Recording;

  constructor(recording: Recording) {
    this.recording = recording;
  }

  get buses(): readonly string[] {
    return this.recording.buses;
  }

  get faults(): LogReader['faults'] {
    return this.recording.faults;
  }

  get leftOut(): readonly LeftOut[] {
    return [...this.recording.leftOut.values()];
  }

  get passedOver(): ReadonlyMap<string, number> {
    return this.recording.passedOver;
  }

  protected counted(batch: FrameBatch): FrameBatch {
    this.frames += batch.count;
    return batch;
  }
}

/** Error for a file that is not a log of a known format. */
export class UnknownFormat extends VigieError {
  constructor(what: string, where: string) {
    super('input.malformed', what, { where });
  }
}
