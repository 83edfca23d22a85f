/** The parts of a log format: its detection, its reader, and its description for users. */
import type { LogFile } from './input.ts';
import type { LogParser, Recording } from './recording.ts';

/** The start of a file. */
export interface Head {
  /** Text read as Latin-1, so that every byte is one character. */
  readonly text: string;
  readonly lines: readonly string[];
}

/** Reader of a log format. */
export type FormatReader = BytesReader | FileReader;

/** Reads bytes sequentially, also from a pipe. */
export interface BytesReader {
  readonly from: 'bytes';
  create(recording: Recording, head: Head): LogParser;
}

/** Reads a file at any position. Input from a pipe or compressed file is first copied to a file. */
export interface FileReader {
  readonly from: 'file';
  /** True if the reader opens the file by its name instead of the open handle. */
  readonly byName?: boolean;
  /** Opens the file. Throws `input.malformed` for a file without any readable frames. */
  open(file: LogFile, recording: Recording): Promise<FrameFile>;
}

/** A part of a file with its own records, and the number of records read. */
export interface LogPart {
  readonly name: string;
  /** Number of records read. */
  readonly read: number;
  /** Number of records, if the file contains it. */
  readonly count: number | undefined;
  /** Reason why no record can be read, or undefined. */
  readonly why: string | undefined;
}

/** An open file of frames. */
export interface FrameFile {
  /** For a file in parts: the progress in each part. */
  readonly parts?: readonly LogPart[];
  /** Number of bytes of the file read so far, for a progress bar. */
  readonly position: number;
  /** Adds frames to the recording's batch until it is full or no more frames exist. Returns false at the end. */
  fill(): Promise<boolean>;
  close(): void;
}

export interface FormatEntry<Reader extends FormatReader = FormatReader> {
  /** Name for users. */
  readonly name: string;
  readonly extensions: readonly string[];
  /** Programs and devices that write the format. */
  readonly tools: string;
  /** Supported part of the format, if not all of it is read. */
  readonly note?: string;
  /** Returns the number of lines that only this format can have. A header counts as many lines. */
  score(head: Head): number;
  load(): Promise<Reader>;
}
