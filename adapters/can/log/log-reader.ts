/** Content of a log in any format. */
import type { FrameBatch } from '../../../agent/ports.ts';
import type { Diagnostic } from '../../../protocol/diagnostic.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { LogPart } from './format.ts';
import type { LogFormat } from './formats.ts';
import type { LeftOut, Recording } from './recording.ts';

export interface LogReader {
  /** One of {@link logFormats}; of an archive, that of its first recording. */
  readonly format: LogFormat;
  /** Names that {@link FrameBatch.bus} indexes; grows while reading. */
  readonly buses: readonly string[];
  /** Bytes of the file as it lies on the disk; 0 for standard input. */
  readonly size: number;
  /** Bytes of it that were read, for a progress bar. */
  readonly position: number;
  /** Frames that were read, error frames included. */
  readonly frames: number;
  /** Records that could not be read: how many, and the first ten with file and line. */
  readonly faults: { readonly count: number; readonly first: readonly Diagnostic[] };
  /** The same, counted by reason. */
  readonly leftOut: readonly LeftOut[];
  /** Entries that are no CAN data or remote frames: comments, events, frames of other buses; by kind. */
  readonly passedOver: ReadonlyMap<string, number>;
  /** For a file in parts, such as the channel groups of MDF4: the part of each that was read so far. */
  readonly parts?: readonly LogPart[];
  /**
   * The frames in the order of the file. The same batch is filled again for each step; its frames are in order of
   * time only when the log is. Can be iterated once. Throws `input.unreadable` when the file cannot be read any more.
   */
  batches(): AsyncIterable<FrameBatch>;
  close(): Promise<void>;
}

export interface LogOptions {
  /** Leaves out recognition by content. */
  readonly format?: LogFormat;
  /** Assigns all frames to the bus of this name, whatever the log contains. */
  readonly bus?: string;
  /** Reads a table with these columns, e.g. `time,id,dlc,data`, whatever the content; `-` is a column passed over. */
  readonly columns?: string;
}

/** Report of every {@link LogReader} on its {@link Recording}. */
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

/** A file that is not a log of a format that is known by name. */
export class UnknownFormat extends VigieError {
  constructor(what: string, where: string) {
    super('input.malformed', what, { where });
  }
}
