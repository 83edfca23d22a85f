/** Exits of a hub: receivers of the readings of all cars, each from the first message that it has not confirmed. */
import type { ExitReport } from '../../protocol/interface/own/exits.ts';
import type { Telemetry } from '../../protocol/schema/telemetry.ts';

/** Progress of an exit. Messages are numbered by their ids, in the order in which hubs stored them. */
export interface ExitProgress {
  /** First message that the receiver has not confirmed. */
  readonly next: number;
  /** Number of messages that retention removed before the receiver got them. */
  readonly lost: number;
  /** Number of messages that the receiver refused for good. */
  readonly refused: number;
}

/** A telemetry message. */
export interface ExitItem {
  readonly id: number;
  readonly vin: string;
  /** Decodes it. Returns undefined if its start of the agent did not know the time: a correction gives it a new id. */
  read(): Telemetry | undefined;
}

/** The next messages of all cars. */
export interface ExitPortion {
  readonly items: readonly ExitItem[];
  /** First id after the portion. */
  readonly next: number;
  /** First id that is not stored yet, or that an earlier commit may still fill. */
  readonly end: number;
}

/** State of an exit. Counts messages, those that wait up to 10,000. */
export interface HubExitReport extends ExitReport {
  /** Arrival of the first waiting message in UTC ms of the hub. */
  readonly waitingSince?: number;
}

/** Each method rejects with `store.failed`. */
export interface ExitStore {
  /** Returns the progress of the exit. A new one starts with the oldest message. */
  open(exit: string): Promise<ExitProgress>;
  /**
   * Returns at most `most` telemetry messages from the id `from` on. Does not pass an id that a commit of any hub may
   * still fill. If `next` is `from`, the caller tries again later.
   */
  read(from: number, most: number): Promise<ExitPortion>;
  /**
   * Stores the progress, and that the receiver takes messages at `now` (UTC ms). Resolves with the number of lost
   * messages. Resolves with undefined and changes nothing if the exit is no longer at `before`, because another hub has
   * advanced it.
   */
  save(exit: string, before: number, progress: Omit<ExitProgress, 'lost'>, now: number): Promise<number | undefined>;
  /** Stores why the receiver takes no messages. Resolves with the number of lost messages. */
  failed(exit: string, error: string): Promise<number>;
  /** States of those of the exits that ever ran. */
  reports(exits: readonly HubExitReport['kind'][]): Promise<readonly HubExitReport[]>;
}
