/** Converts fixes to readings, so that a profile maps `{ message: GNSS, signal: latitude }` like signals of the bus. */
import type { ReadingSink } from '../../agent/ports.ts';
import type { Fix } from './fix.ts';

/** Name of the message that contains the signals in a profile. */
export const gnssMessage = 'GNSS';

/**
 * Signal names for profiles:
 *
 * | signal | unit |
 * |---|---|
 * | `latitude`, `longitude` | degrees, WGS 84; only with a fix |
 * | `altitude` | metres above mean sea level; only with a fix |
 * | `speed` | km/h over ground; only with a fix |
 * | `heading` | degrees from true north, course over ground; only with a fix |
 * | `fix` | 0 none, 2 two-dimensional, 3 three-dimensional |
 * | `satellites` | count used in the solution |
 */
export const gnssSignals = ['latitude', 'longitude', 'altitude', 'speed', 'heading', 'fix', 'satellites'] as const;
type GnssSignal = (typeof gnssSignals)[number];

const dimensions = { none: 0, '2D': 2, '3D': 3 } as const;

/** Delivers the wanted signals of the GNSS message; ignores others. */
export class FixReadings {
  private readonly wanted: readonly (readonly [number, GnssSignal])[];
  private readonly sink: ReadingSink;

  /** @param wanted the decoder's list: the index of a signal in it is the index of its readings */
  constructor(wanted: readonly { readonly message: string; readonly signal: string }[], sink: ReadingSink) {
    this.wanted = wanted.flatMap(({ message, signal }, index) => {
      const known = message === gnssMessage ? gnssSignals.find((name) => name === signal) : undefined;
      return known === undefined ? [] : [[index, known] as const];
    });
    this.sink = sink;
  }

  /**
   * Delivers the readings of one fix and marks their end. Fields that the receiver did not send have no reading.
   * @param at time of the fix in UTC ms: its own time, or that of its arrival
   */
  deliver(fix: Fix, at: number): void {
    for (const [index, signal] of this.wanted) {
      const value = signal === 'fix' ? dimensions[fix.fix] : fix[signal];
      if (value !== undefined) this.sink.reading(index, value, value, at);
    }
    this.sink.settled(at);
  }
}
