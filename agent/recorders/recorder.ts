import type { Trip, TripReport } from '../../protocol/schema/trip.ts';
import type { ChannelObserver } from '../model/channels.ts';
import type { ObservedStatus, StatusObserver } from '../model/status.ts';
import type { Publisher } from '../ports.ts';
import type { Records } from '../records.ts';

/** Maximum number of parts of a recorder's state. */
export const PARTS = 64;

/** Returns for how many ms a publication may wait now, if it may wait `age` ms while no client watches the car. */
export type Patience = (age: number) => number;

/** Leaves the wait unchanged, for a car that no client can watch. */
export const unchanged: Patience = (age) => age;

/**
 * Converts changes of Status and channels into records. Uses only the times of readings and ticks, UTC ms, and no
 * timers, so that a replay gets the same result as the drive.
 */
export interface Recorder extends StatusObserver, Partial<ChannelObserver> {
  /** Key of its state. */
  readonly name: string;
  /** Called about once a second of the car's time, even if nothing changes. */
  tick(now: number): void;
  /**
   * Called when the agent stops or falls asleep. Publishes data that would be lost or late. Open records stay open
   * until the next start.
   */
  flush(now: number): void;
  /** Returns the state to restore after a power cut, of CBOR types. Called at every commit. */
  state?(): unknown;
  /**
   * Returns state in several parts. Only changed parts are written, so that growing state is not rewritten as a whole.
   * The keys are `0` to {@link PARTS} - 1; undefined deletes a part.
   */
  parts?(): Iterable<readonly [key: number, value: unknown]>;
  /** Restores the parts of an earlier run, in order. Called after {@link restore}. */
  restoreParts?(parts: readonly unknown[]): void;
  /**
   * Restores the result of {@link state}. Throws a VigieError if it is invalid; the recorder then starts without it.
   */
  restore?(state: unknown): void;
  /**
   * Called when the time becomes known: times were `by` ms behind. Times after `latest`, the last time of the wrong
   * clock, are from an earlier run that knew the time.
   */
  correct?(by: number, latest: number): void;
}

/** Dependencies of a recorder. */
export interface RecorderParts {
  readonly status: ObservedStatus;
  readonly publisher: Publisher;
  readonly records: Records;
  /** Returns the level of privacy, now or for readings made at `at`: 0 hides nothing, 1 positions, 2 everything. */
  readonly privacy: (at?: number) => number;
  /** Returns a function that returns the highest level since its previous call. */
  readonly highestPrivacy: () => () => number;
  readonly patience: Patience;
}

/** Creates a recorder in addition to those of the agent. */
export type MakeRecorder = (parts: RecorderParts) => Recorder;

/** Reports the open trip. */
export interface TripReader {
  /** Id of the open trip. */
  readonly current: string | undefined;
}

/** Reports the distance of the open trip. */
export interface OpenTripReader {
  /** Returns the open trip at `now`, UTC ms, with its duration and distance so far. */
  present(now: number): Trip | undefined;
}

/** Reports how far the open trip is. */
export interface TripProgress {
  /**
   * Returns the fields of the open trip at `now`, UTC ms, that differ from its newest message; if not `whole`, only its
   * distance.
   */
  progress(now: number, whole: boolean): TripReport | undefined;
}
