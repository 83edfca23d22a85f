/** A position fix of a receiver, in any protocol. */
import type { Diagnostic } from '../../protocol/diagnostic.ts';

/** Fields that the receiver does not send are absent; position, speed and course are present only with a fix. */
export interface Fix {
  /** Time in UTC ms of the measurement by the receiver. Absent until it has sent the date, with a fix or in ZDA. */
  readonly t?: number;
  /** Latitude in degrees, WGS 84, north positive, -90..90. */
  readonly latitude?: number;
  /** Longitude in degrees, WGS 84, east positive, -180..180. */
  readonly longitude?: number;
  /** Altitude in metres above mean sea level; with a 2D fix the altitude that the receiver assumes. */
  readonly altitude?: number;
  /** Speed over ground in km/h. */
  readonly speed?: number;
  /** Course over ground in degrees from true north, 0..360. */
  readonly heading?: number;
  readonly fix: FixKind;
  /** Satellites used in the solution. */
  readonly satellites?: number;
}

export type FixKind = 'none' | '2D' | '3D';

/** Converts the bytes of a receiver or of gpsd into fixes, from any source. Never throws on invalid content. */
export interface FixParser {
  /** Records that could not be read: their number, and the first ten with file and line. */
  readonly faults: Faults;
  /** Number of sentences, reports and frames that could be read, with any content. */
  readonly records: number;
  /** Number of readable binary messages without a fix, by name. */
  readonly others: ReadonlyMap<string, number>;
  /** Number of positions that were ignored because no message contains their validity. */
  readonly unproven: number;
  /** @returns the fixes that became complete. */
  push(bytes: Uint8Array): readonly Fix[];
  /**
   * Call if the receiver has been silent for a part of its period: the data so far forms a whole fix. Without this
   * call, a fix is complete only when the next one begins.
   */
  settle(): readonly Fix[];
  /** Call after the last bytes. */
  finish(): readonly Fix[];
}

/** Largest number of faults stored as diagnostics; later ones are only counted. */
const faultsKept = 10;

export class Faults {
  count = 0;
  readonly first: Diagnostic[] = [];
  private readonly file: string;

  /** @param file path or device named in diagnostics */
  constructor(file: string) {
    this.file = file;
  }

  /** @param line 1-based; 0 for the whole file */
  add(line: number, message: string): void {
    this.count++;
    if (this.first.length < faultsKept) this.first.push({ file: this.file, line, severity: 'error', message });
  }
}

/** Rounds a value: a position to 0.1 mm, others to where binary fractions begin to show. */
export function rounded(value: number, digits: number): number {
  const scale = 10 ** digits;
  const result = Math.round(value * scale) / scale;
  return result === 0 ? 0 : result;
}
