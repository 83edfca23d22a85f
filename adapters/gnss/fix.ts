/** A position fix of a receiver, in any protocol. */
import type { Diagnostic } from '../../protocol/diagnostic.ts';

/** Members that the receiver does not give are absent; position, speed and course only come with a fix. */
export interface Fix {
  /** Time of the measurement by the receiver, UTC milliseconds. Absent until it has sent the date, with a fix or in ZDA. */
  readonly t?: number;
  /** Degrees, WGS 84, north positive, -90..90. */
  readonly latitude?: number;
  /** Degrees, WGS 84, east positive, -180..180. */
  readonly longitude?: number;
  /** Metres above mean sea level; with a 2D fix the height that the receiver assumes. */
  readonly altitude?: number;
  /** Speed over ground, km/h. */
  readonly speed?: number;
  /** Course over ground, degrees from true north, 0..360. */
  readonly heading?: number;
  readonly fix: FixKind;
  /** Satellites used in the solution. */
  readonly satellites?: number;
}

export type FixKind = 'none' | '2D' | '3D';

/** Turns the bytes of a receiver or of gpsd into fixes, whatever brings the bytes. Never throws on bad content. */
export interface FixParser {
  /** Records that could not be read: how many, and the first ten with file and line. */
  readonly faults: Faults;
  /** Sentences, reports and frames that could be read, whatever they say. */
  readonly records: number;
  /** Binary messages that could be read and tell no fix, by name: how many. */
  readonly others: ReadonlyMap<string, number>;
  /** Number of positions that were ignored because no message says whether they are valid. */
  readonly unproven: number;
  /** @returns the fixes that became complete. */
  push(bytes: Uint8Array): readonly Fix[];
  /**
   * The receiver has fallen silent: what it said so far is a whole fix. Whatever carries the bytes calls this when
   * none have come for a part of the receiver's period; else a fix is complete when the next one begins.
   */
  settle(): readonly Fix[];
  /** No more bytes will come. */
  finish(): readonly Fix[];
}

/** Faults kept as diagnostics; later ones are only counted. */
const faultsKept = 10;

export class Faults {
  count = 0;
  readonly first: Diagnostic[] = [];
  private readonly file: string;

  /** @param file what diagnostics name: a path or a device */
  constructor(file: string) {
    this.file = file;
  }

  /** @param line 1-based; 0 for the whole file */
  add(line: number, message: string): void {
    this.count++;
    if (this.first.length < faultsKept) this.first.push({ file: this.file, line, severity: 'error', message });
  }
}

/** Position to 0.1 mm, the rest to where binary fractions begin to show. */
export function rounded(value: number, digits: number): number {
  const scale = 10 ** digits;
  const result = Math.round(value * scale) / scale;
  return result === 0 ? 0 : result;
}
