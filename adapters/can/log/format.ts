/** The parts of a log format: how Vigie recognises it, its reader, and its description for users. */
import type { LogFile } from './input.ts';
import type { LogParser, Recording } from './recording.ts';

/** The beginning of a file. */
export interface Head {
  /** As Latin-1, so that every byte is a character. */
  readonly text: string;
  readonly lines: readonly string[];
}

/** Reader of a format. */
export type FormatReader = BytesReader | FileReader;

/** Reads bytes in the order in which they come, from a pipe as well. */
export interface BytesReader {
  readonly from: 'bytes';
  create(recording: Recording, head: Head): LogParser;
}

/** Reads a file at any position; what comes from a pipe or compressed is copied to a file before. */
export interface FileReader {
  readonly from: 'file';
  /** It opens the file by its name, not by what is open already. */
  readonly byName?: boolean;
  /** Throws `input.malformed` for a file without any frames that it could give. */
  open(file: LogFile, recording: Recording): Promise<FrameFile>;
}

/** A part of a file that has records of its own, and what was read of it. */
export interface LogPart {
  readonly name: string;
  /** Records. */
  readonly read: number;
  /** Number of records, if the file contains it. */
  readonly count: number | undefined;
  /** Why none can be read. */
  readonly why: string | undefined;
}

/** An open file of frames. */
export interface FrameFile {
  /** For a file in parts: the part of each that was read so far. */
  readonly parts?: readonly LogPart[];
  /** Bytes of the file that were read, for a progress bar. */
  readonly position: number;
  /** Adds frames to the recording's batch until it is full or no more come; false at the end. */
  fill(): Promise<boolean>;
  close(): void;
}

export interface FormatEntry<Reader extends FormatReader = FormatReader> {
  /** Name for people. */
  readonly name: string;
  readonly extensions: readonly string[];
  /** Programs and devices that write it. */
  readonly tools: string;
  /** Supported part, if not all is read. */
  readonly note?: string;
  /** Lines that the format alone can have; a header counts as much as many lines. */
  score(head: Head): number;
  load(): Promise<Reader>;
}
