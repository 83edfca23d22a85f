import type { Trip } from '../../protocol/schema/trip.ts';
import type { ChannelObserver } from '../channels.ts';
import type { Publisher } from '../ports.ts';
import type { Records } from '../records.ts';
import type { ObservedStatus, StatusObserver } from '../status.ts';

/** Bound on the parts of a recorder's state. */
export const PARTS = 64;

/** How long a publication may wait now that waits `age` ms while no client watches the car. */
export type Patience = (age: number) => number;

/** For a car that no client can watch. */
export const unchanged: Patience = (age) => age;

/**
 * Turns changes of Status and channels into records. All time it knows is that of the readings and of the ticks,
 * UTC milliseconds; it has no timers of its own, so that a replay does the same as the drive.
 */
export interface Recorder extends StatusObserver, Partial<ChannelObserver> {
  /** Key of its state. */
  readonly name: string;
  /** Called about once a second of the car's time, also while nothing changes. */
  tick(now: number): void;
  /** The agent stops or falls asleep: what would be lost or sent too late is handed over. What is open stays open and is taken up after the next start. */
  flush(now: number): void;
  /** What must be known again after a power cut: data of CBOR's types, asked at every commit. */
  state?(): unknown;
  /**
   * State in several parts, each written only when it differs from before: what grows is not written whole each time.
   * The keys are `0` to {@link PARTS} - 1; undefined forgets a part.
   */
  parts?(): Iterable<readonly [key: number, value: unknown]>;
  /** Takes up the parts of an earlier run, in order; called after {@link restore}. */
  restoreParts?(parts: readonly unknown[]): void;
  /** Takes up what {@link state} gave in an earlier run. Throws a VigieError when that is not it; then it starts anew. */
  restore?(state: unknown): void;
  /**
   * The clock became known: times were `by` ms behind. Those after `latest`, where the wrong clock stood, are of an
   * earlier run that knew the time.
   */
  correct?(by: number, latest: number): void;
}

/** What a recorder is made of. */
export interface RecorderParts {
  readonly status: ObservedStatus;
  readonly publisher: Publisher;
  readonly records: Records;
  /** Level of privacy, now or for what was read at `at`: 0 nothing is hidden, 1 positions, 2 all. */
  readonly privacy: (at?: number) => number;
  /** Its result tells the highest level since it was last called. */
  readonly highestPrivacy: () => () => number;
  readonly patience: Patience;
}

/** Makes a recorder that somebody adds to those of the agent. */
export type MakeRecorder = (parts: RecorderParts) => Recorder;

/** Tells which trip is going on. */
export interface TripReader {
  /** Id of the open trip. */
  readonly current: string | undefined;
}

/** Tells how far it has come. */
export interface OpenTripReader {
  /** The open trip as it stands at `now`, UTC ms: its duration and distance so far. */
  present(now: number): Trip | undefined;
}
