/** Splits text logs into lines (LF, CRLF or CR alone) and passes each to the parser of the format. */
import type { LogParser, Recording } from './recording.ts';

/** Longest line in bytes that is parsed. A longer line is a fault and is skipped without being stored. */
export const longestLine = 65_536;

/** Parses single lines of one format, with at most one frame per line. */
export interface LineParser {
  /**
   * @param whole false for the last line of a file without a line end: it may be incomplete.
   * @returns the fault of the line; undefined for a frame, a comment or another event of the format.
   */
  line(bytes: Uint8Array, start: number, end: number, whole: boolean): string | undefined;
}

export class TextParser implements LogParser {
  private readonly recording: Recording;
  private readonly lines: LineParser;
  private number = 0;
  private passing = false;

  constructor(recording: Recording, lines: LineParser) {
    this.recording = recording;
    this.lines = lines;
  }

  parse(bytes: Uint8Array, from: number, end: number, last: boolean): number {
    let start = from;
    while (!this.recording.full) {
      const next = this.parseLine(bytes, start, end, last);
      if (next === start) break;
      start = next;
    }
    return start;
  }

  /** As {@link parse}, for one line. Returns `start` if the line is incomplete or there are no bytes. */
  parseLine(bytes: Uint8Array, start: number, end: number, last: boolean): number {
    // A file that was not closed may contain zeros in place of unwritten data.
    let begin = start;
    while (begin < end && bytes[begin] === 0) begin++;
    if (begin > start) return begin;
    const stop = lineEnd(bytes, start, end);
    if (stop === end && !last) {
      if (!this.passing && end - start <= longestLine) return start;
      if (!this.passing) this.tooLong();
      this.passing = true;
      return end;
    }
    if (start === end) return start;
    // A CR as the last byte may be half of a CRLF.
    if (stop === end - 1 && bytes[stop] === 13 && !last) return start;
    if (this.passing) this.passing = false;
    else if (stop - start > longestLine) this.tooLong();
    else {
      this.number++;
      let to = stop;
      while (to > start && bytes[to - 1] === 0) to--;
      this.parsed(bytes, start, to, stop < end);
    }
    if (stop === end) return end;
    return bytes[stop] === 13 && stop + 1 < end && bytes[stop + 1] === 10 ? stop + 2 : stop + 1;
  }

  private parsed(bytes: Uint8Array, from: number, to: number, whole: boolean): void {
    const fault = this.lines.line(bytes, from, to, whole);
    if (fault === undefined) return;
    if (whole) this.recording.fault(this.number, fault);
    // The end of an interrupted recording, which is not a frame.
    else this.recording.passOver('last lines that are cut');
  }

  /** Counts lines that were parsed elsewhere, for the line numbers of diagnostics. */
  passed(lines: number): void {
    this.number += lines;
  }

  private tooLong(): void {
    this.recording.fault(++this.number, `line is longer than ${longestLine} bytes`);
  }
}

/** Returns the position of the next LF or CR, or `end`. */
function lineEnd(bytes: Uint8Array, from: number, end: number): number {
  let i = from;
  while (i < end && bytes[i] !== 10 && bytes[i] !== 13) i++;
  return i;
}
