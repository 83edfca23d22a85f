import type { Trip } from '../../protocol/schema/trip.ts';
import type { ChannelObserver } from '../model/channels.ts';
import type { ObservedStatus, StatusObserver } from '../model/status.ts';
import type { Publisher } from '../ports.ts';
import type { Records } from '../records.ts';

/** Bound on the parts of a recorder's state. */
export const PARTS = 64;

/** How long a publication may wait now that waits `age` ms while no client watches the car. */
export type Patience = (age: number) => number;

/** For a car that no client can watch. */
export const unchanged: Patience = (age) => age;

/**
 * Turns changes of Status and channels into records. Its only times are those of readings and ticks, UTC ms; it has no
 * timers, so that a replay does the same as the drive.
 */
export interface Recorder extends StatusObserver, Partial<ChannelObserver> {
  /** Key of its state. */
  readonly name: string;
  /** Called about once a second of the car's time, also while nothing changes. */
  tick(now: number): void;
  /**
   * The agent stops or falls asleep: hands over data that would be lost or late. Open records stay open until the next
   * start.
   */
  flush(now: number): void;
  /** State to restore after a power cut, of types that CBOR has. Called at every commit. */
  state?(): unknown;
  /**
   * State in several parts, each written only when it differs from before: what grows is not written whole each time.
   * The keys are `0` to {@link PARTS} - 1; undefined forgets a part.
   */
  parts?(): Iterable<readonly [key: number, value: unknown]>;
  /** Restores the parts of an earlier run, in order. Called after {@link restore}. */
  restoreParts?(parts: readonly unknown[]): void;
  /**
   * Restores the result of {@link state}. Throws a VigieError if it is invalid; the recorder then starts without it.
   */
  restore?(state: unknown): void;
  /**
   * The clock became known: times were `by` ms behind. Those after `latest`, where the wrong clock stood, are of an
   * earlier run that knew the time.
   */
  correct?(by: number, latest: number): void;
}

/** Dependencies of a recorder. */
export interface RecorderParts {
  readonly status: ObservedStatus;
  readonly publisher: Publisher;
  readonly records: Records;
  /** Level of privacy, now or for what was read at `at`: 0 nothing is hidden, 1 positions, 2 all. */
  readonly privacy: (at?: number) => number;
  /** The returned function returns the highest level since its last call. */
  readonly highestPrivacy: () => () => number;
  readonly patience: Patience;
}

/** Makes a recorder that somebody adds to those of the agent. */
export type MakeRecorder = (parts: RecorderParts) => Recorder;

/** Reports the open trip. */
export interface TripReader {
  /** Id of the open trip. */
  readonly current: string | undefined;
}

/** Reports the distance of the open trip. */
export interface OpenTripReader {
  /** The open trip at `now`, UTC ms, with its duration and distance so far. */
  present(now: number): Trip | undefined;
}
